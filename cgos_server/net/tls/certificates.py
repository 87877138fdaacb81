"""A certificate with its key: read, tried out, and read again when its files change.

Whether a pair can be used is decided by a handshake in memory, which also says what is in the certificate. What is in
force changes as a whole: a pair that cannot be used changes nothing. Must not know: sockets, which listeners there are.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import structlog

from cgos_protocol.errors import Code, Invalid, Refused

log = structlog.get_logger(__name__)

MinimumTls = Literal["1.2", "1.3"]

LOOK_S: Final = 15.0
"""Between two looks at the files. What has changed must stay for one more look: a file may be half written."""

_VERSIONS: Final = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
_NO_CHECK_TIME: Final = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python has no name for: an expired certificate is read, too."""
_FLIGHTS: Final = 4
"""Messages of a handshake that go from one side to the other, at most."""

_Marks = tuple[tuple[int, int, int], ...]
"""Of each file what changes with it: its number, its length, when it was written."""


class TlsFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where the certificate is, and how old a TLS may be.

    :ivar certificate: PEM, the server's own first, then those between it and its authority
    :ivar key: PEM, without a password
    """

    certificate: str
    key: str
    minimum: MinimumTls = "1.2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A certificate that can be used.

    :ivar context: for new connections
    :ivar names: host names and addresses that it is for
    :ivar begins_at: Unix time in seconds, as `expires_at`
    """

    context: ssl.SSLContext
    names: tuple[str, ...]
    begins_at: int
    expires_at: int


def read_certificate(files: TlsFiles) -> Certificate:
    """Read the files and try them out; takes some milliseconds. Raises Refused where they cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[files.minimum]
    context.options |= ssl.OP_NO_RENEGOTIATION
    for path, label in ((files.certificate, "CERTIFICATE"), (files.key, "PRIVATE KEY")):
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise _unreadable(path, error) from error
        if f"{label}-----".encode() not in content:
            raise Invalid(
                Code.CERTIFICATE,
                f"{path} has no line with BEGIN {label}. Name the PEM file of the {label.lower()}: tls.certificate and "
                "tls.key may have changed places.",
            )
    try:
        context.load_cert_chain(files.certificate, files.key, password=_no_password)
        inside = _tried(context, files.certificate)
    except (ssl.SSLError, ValueError) as error:
        raise Invalid(Code.CERTIFICATE, _sentence(files, error)) from error
    except OSError as error:  # replaced since it was read above; the library does not say which of both
        raise _unreadable(f"{files.certificate} or {files.key}", error) from error
    return Certificate(
        context=context,
        names=tuple(name for _, name in inside.get("subjectAltName", ())),
        begins_at=int(ssl.cert_time_to_seconds(inside["notBefore"])),
        expires_at=int(ssl.cert_time_to_seconds(inside["notAfter"])),
    )


def _tried(context: ssl.SSLContext, certificate: str) -> dict[str, Any]:
    """What is in the certificate, as a client reads it that trusts this one and does not look at its dates."""
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    theirs.check_hostname = False
    theirs.load_verify_locations(certificate)
    theirs.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, server = theirs.wrap_bio(back, there), context.wrap_bio(there, back, server_side=True)
    for side in (client, server) * _FLIGHTS:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return client.getpeercert() or {}


def _no_password() -> bytes:
    """Asked for where the key is encrypted. Without it OpenSSL would ask at the terminal."""
    raise ValueError("encrypted")


def _unreadable(path: str, error: OSError) -> Invalid:
    return Invalid(Code.CERTIFICATE, f"{path} cannot be read ({error.strerror}). Name a file that this user can read.")


def _sentence(files: TlsFiles, error: Exception) -> str:
    reason = getattr(error, "reason", None) or ""
    if isinstance(error, ValueError) and not isinstance(error, ssl.SSLError):
        return f"The key in {files.key} is encrypted. Write it without a password, readable for the server alone."
    if reason == "KEY_VALUES_MISMATCH":
        return f"The key in {files.key} does not fit the certificate in {files.certificate}. Give a pair."
    why = reason.replace("_", " ").lower() or str(error)
    return f"The certificate in {files.certificate} and its key in {files.key} cannot be used ({why}). Both are PEM."


class CertificateKeeper:
    """One a process with listeners of TLS. Raises Refused where the files cannot be used at the start.

    :ivar current: for new connections; those of before go on with theirs
    :ivar failures: changed files that could not be used
    """

    def __init__(
        self,
        files: TlsFiles,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.failures = 0
        self._files = files
        self._pause = pause
        self._now = now
        self._tried = self._last = _marks(files)
        self.current = self._looked_at(read_certificate(files))

    def context(self) -> ssl.SSLContext:
        """For the next connection."""
        return self.current.context

    async def run(self) -> None:
        """Look at the files again and again, until cancelled."""
        while True:
            await self._pause(LOOK_S)
            marks = await asyncio.to_thread(_marks, self._files)
            settled, self._last = marks == self._last, marks
            if settled and marks != self._tried:
                await self.reload()

    async def reload(self) -> str | None:
        """Read the files now. The sentence why they cannot be used, in which case everything stays as it was."""
        self._tried = await asyncio.to_thread(_marks, self._files)
        try:
            new = await asyncio.to_thread(read_certificate, self._files)
        except Refused as refusal:
            self.failures += 1
            log.warning("the certificate stays as it was", why=refusal.sentence)
            return refusal.sentence
        self.current = self._looked_at(new)
        log.info("the certificate is read", names=new.names, expires_at=_date(new.expires_at))
        return None

    def _looked_at(self, new: Certificate) -> Certificate:
        if not new.begins_at <= self._now() < new.expires_at:
            log.warning(
                "the certificate is not valid now, and clients refuse it",
                begins_at=_date(new.begins_at),
                expires_at=_date(new.expires_at),
                remedy="Renew it, or set this machine's clock right; a new one is read without a restart.",
            )
        return new


def _marks(files: TlsFiles) -> _Marks:
    marks = []
    for path in (files.certificate, files.key):
        try:
            stat = Path(path).stat()
        except OSError:
            marks.append((0, 0, 0))
        else:
            marks.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return tuple(marks)


def _date(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
