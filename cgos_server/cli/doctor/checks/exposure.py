"""Whether proxies and addresses are configured so that limits count people, and nothing is open that should not be."""

from __future__ import annotations

from ipaddress import ip_address

from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong
from cgos_server.config.schema import Config
from cgos_server.config.values import Networks

_WIDE = {4: 8, 6: 16}
"""Networks with a shorter prefix than this are nobody's own."""


def is_public(host: str) -> bool:
    """Whether others than this machine and private networks may reach a listener on `host`."""
    try:
        address = ip_address(host or "0.0.0.0")
    except ValueError:
        return host != "localhost"
    return address.is_unspecified or address.is_global


def judge(config: Config) -> list[Finding]:
    findings = [*_proxies(config), *_pages(config), *_health(config), *_operators(config)]
    return findings or [ok("proxies and public addresses go together")]


def _proxies(config: Config) -> list[Finding]:
    findings = []
    web, websocket = config.web, config.websocket
    if web.enabled and not web.tls and web.public_url.startswith("https:") and not web.proxies.parts:
        findings.append(_uncounted("web.public_url", web.public_url, "web.proxies", "visitor"))
    secure = websocket.enabled and not websocket.tls and str(websocket.public_url).startswith("wss:")
    if secure and not config.listen.proxies.parts:
        findings.append(_uncounted("websocket.public_url", str(websocket.public_url), "listen.proxies", "bot"))
    for key, networks in (("web.proxies", web.proxies), ("listen.proxies", config.listen.proxies)):
        findings += [
            wrong(
                f"{key} trusts {wide}: whoever connects from there may claim to come from any address.",
                f"Name the proxy's own address in {key}, such as 127.0.0.1: limits go by addresses.",
            )
            for wide in _wide(networks)
        ]
    return findings


def _uncounted(url_key: str, url: str, proxies_key: str, who: str) -> Finding:
    return wrong(
        f"{url_key} is {url}, and {proxies_key} names no proxy: every {who} has the address of the proxy, so that all "
        "share one's limits.",
        f"Name the proxy that speaks TLS in {proxies_key}, such as 127.0.0.1.",
    )


def _pages(config: Config) -> list[Finding]:
    web = config.web
    if not web.enabled or web.tls or not is_public(web.host) or web.public_url.startswith("https:"):
        return []
    accounts = "; anybody may make an account there" if web.accounts == "open" else ""
    return [
        warning(
            f"the pages are plain HTTP on {web.host}, port {web.port}: passwords of accounts can be read on the way"
            f"{accounts}.",
            "Set web.tls and [tls], or put a proxy with TLS before them and set web.public_url and web.proxies, or "
            "listen on 127.0.0.1.",
        )
    ]


def _health(config: Config) -> list[Finding]:
    if not is_public(config.health.host):
        return []
    return [
        warning(
            f"health and metrics are open to all who reach {config.health.host}, port {config.health.port}.",
            "Set health.host to 127.0.0.1 or a private address, or close the port by a firewall.",
        )
    ]


def _operators(config: Config) -> list[Finding]:
    return [
        warning(
            f"operators may sign in on the bots' ports from {wide}, with a password that travels in clear text.",
            "Name the networks of your operators in admin.networks.",
        )
        for wide in _wide(config.admin.networks)
    ]


def _wide(networks: Networks) -> list[str]:
    return [str(part) for part in networks.parts if part.prefixlen < _WIDE[part.version]]
