"""Whether certificates are valid for a while yet, and for the right names."""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong
from cgos_server.presentation.words import count

_DAY_MS = 86_400_000
_SOON_DAYS, _NOW_DAYS = 21, 3
_OTHERS = 0o007


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate, or why there is none to look at.

    :ivar where: the address or the file
    :ivar unreachable: why nobody answers there; empty where somebody does
    :ivar refused: why it cannot be trusted; empty where it can
    :ivar until_ms: when it ends; None where that is not known
    """

    where: str
    unreachable: str = ""
    refused: str = ""
    until_ms: int | None = None


class OwnCertificate(msgspec.Struct, frozen=True, kw_only=True):
    """The server's own, in files.

    :ivar where: the file of the certificate, `key` that of its key
    :ivar key_mode: the key's permission bits
    :ivar names: host names and addresses that it is for
    :ivar from_ms: when it begins, Unix milliseconds, as `until_ms`
    """

    where: str
    key: str
    key_mode: int
    names: tuple[str, ...]
    from_ms: int
    until_ms: int


def judge(certificates: list[Certificate], now_ms: int) -> list[Finding]:
    return [_one(certificate, now_ms) for certificate in certificates]


def judge_own(own: OwnCertificate, hosts: list[str], now_ms: int) -> list[Finding]:
    """:param hosts: by which the server calls itself where it speaks TLS"""
    findings = [until(own.where, (own.until_ms - now_ms) / _DAY_MS)]
    if own.from_ms > now_ms:
        remedy = "Look at this machine's clock, or install the certificate that is valid now."
        findings.append(wrong(f"{own.where}: its certificate is not valid yet.", remedy))
    findings += [
        wrong(
            f"{own.where}: its certificate is for {', '.join(own.names) or 'no host at all'}, and not for {host}.",
            f"Order one that names {host}, too.",
        )
        for host in hosts
        if not any(_is_for(name, host) for name in own.names)
    ]
    if own.key_mode & _OTHERS:
        remedy = f"chmod 600 {own.key}, and order a new certificate with a new key where others use this machine."
        findings.append(wrong(f"all users of this machine may read or write {own.key}.", remedy))
    return findings


def _is_for(name: str, host: str) -> bool:
    """Whether a name in a certificate stands for a host; ``*.`` for one more word before it (RFC 6125)."""
    if name.startswith("*."):
        host = "*." + host.partition(".")[2]
    return name.lower() == host.lower()


def _one(seen: Certificate, now_ms: int) -> Finding:
    if seen.unreachable:
        return warning(
            f"{seen.where} cannot be reached from here: {seen.unreachable}.",
            "See whether it is reached from outside; start the proxy, or correct the address in the configuration.",
        )
    if seen.refused:
        return wrong(
            f"{seen.where}: its certificate is not trusted: {seen.refused}.",
            "Renew it (certbot renew, or what your proxy does), with the whole chain and the name in the address. One "
            "of your own making is trusted with SSL_CERT_FILE=FILE before this command.",
        )
    if seen.until_ms is None:
        return ok(f"{seen.where}: its certificate is trusted")
    return until(seen.where, (seen.until_ms - now_ms) / _DAY_MS)


def until(where: str, days: float) -> Finding:
    """What the time that is left means."""
    remedy = "Renew it now (certbot renew), and see why that did not happen by itself."
    if days < 0:
        return wrong(f"{where}: its certificate ended {count(round(-days), 'day')} ago.", remedy)
    sentence = f"{where}: its certificate ends in {count(round(days), 'day')}"
    if days < _SOON_DAYS:
        return (wrong if days < _NOW_DAYS else warning)(f"{sentence}.", remedy)
    return ok(sentence)
