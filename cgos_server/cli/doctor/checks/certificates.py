"""Whether certificates are valid for a while yet, and for the right names."""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong

_DAY_MS = 86_400_000
_SOON_DAYS, _NOW_DAYS = 21, 3


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


def judge(certificates: list[Certificate], now_ms: int) -> list[Finding]:
    if not certificates:
        return [ok("no certificate is configured")]
    return [_one(certificate, now_ms) for certificate in certificates]


def _one(seen: Certificate, now_ms: int) -> Finding:
    if seen.unreachable:
        return warning(
            f"{seen.where} cannot be reached from here: {seen.unreachable}.",
            "See whether it is reached from outside; start the proxy, or correct the address in the configuration.",
        )
    if seen.refused:
        return wrong(
            f"{seen.where}: its certificate is not trusted: {seen.refused}.",
            "Renew it (certbot renew, or what your proxy does), with the whole chain and the name in the address.",
        )
    if seen.until_ms is None:
        return ok(f"{seen.where}: its certificate is trusted")
    return until(seen.where, (seen.until_ms - now_ms) / _DAY_MS)


def until(where: str, days: float) -> Finding:
    """What the time that is left means."""
    remedy = "Renew it now (certbot renew), and see why that did not happen by itself."
    if days < 0:
        return wrong(f"{where}: its certificate ended {-days:.0f} days ago.", remedy)
    sentence = f"{where}: its certificate ends in {days:.0f} days"
    if days < _SOON_DAYS:
        return (wrong if days < _NOW_DAYS else warning)(f"{sentence}.", remedy)
    return ok(sentence)
