"""Certificates for tests, made by the program `openssl`."""

from __future__ import annotations

import _ssl
import ctypes
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from cgos_server.net.tls.certificates import TlsFiles


def openssl(*arguments: str) -> str:
    """What the program prints; skips the test where there is none."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed")
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True, timeout=20).stdout


def self_signed(directory: Path, *names: str, days: int = 30, word: str = "own") -> TlsFiles:
    """A certificate for these names (`DNS:localhost`, `IP:127.0.0.1`), and its key; not one of an authority."""
    certificate, key = directory / f"{word}.pem", directory / f"{word}.key"
    openssl(
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-keyout", str(key), "-out", str(certificate), "-days", str(days), "-subj", "/CN=test"),
        *("-addext", f"subjectAltName={','.join(names or ('DNS:localhost', 'IP:127.0.0.1'))}"),
        *("-addext", "basicConstraints=critical,CA:FALSE"),
    )
    return TlsFiles(certificate=str(certificate), key=str(key))


def cluster_key(file: Path) -> Path:
    """The key of a cluster, in this file."""
    openssl(
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"),
        *("-subj", "/CN=cluster", "-keyout", str(file), "-out", str(file.with_suffix(".crt"))),
    )
    file.write_text(file.read_text() + file.with_suffix(".crt").read_text())
    return file


def expired(directory: Path) -> TlsFiles:
    """A certificate of the first of January 2020, without names."""
    certificate, key = directory / "expired.pem", directory / "expired.key"
    request, settings = directory / "request", directory / "ca.cnf"
    (directory / "index").write_text("")
    (directory / "serial").write_text("01")
    settings.write_text(
        f"[ca]\ndefault_ca=own\n[own]\ndatabase={directory}/index\nserial={directory}/serial\n"
        f"new_certs_dir={directory}\ndefault_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n"
    )
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=old")
    openssl("req", "-new", *new, "-keyout", str(key), "-out", str(request))
    openssl(
        *("ca", "-batch", "-selfsign", "-config", str(settings), "-in", str(request), "-keyfile", str(key)),
        *("-startdate", "20200101000000Z", "-enddate", "20200102000000Z", "-notext", "-out", str(certificate)),
    )
    return TlsFiles(certificate=str(certificate), key=str(key))


def trusting(files: TlsFiles) -> ssl.SSLContext:
    """A client's context that trusts this certificate alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(files.certificate)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def key_updates(client: ssl.SSLObject, number: int) -> None:
    """Let a client of TLS 1.3 change its keys so often and ask for the same, for which the standard library has no
    word; skips the test where OpenSSL cannot be reached beside it."""
    library = getattr(_ssl, "__file__", None)
    update = None if library is None else getattr(ctypes.CDLL(library), "SSL_key_update", None)
    if update is None:
        pytest.skip("this build of Python keeps OpenSSL to itself")
    # What lies in the object: the head of every Python object, the socket, then OpenSSL's own.
    inner = client._sslobj  # type: ignore[attr-defined]
    place = id(inner) + object.__basicsize__ + ctypes.sizeof(ctypes.c_void_p)
    own = ctypes.c_void_p.from_address(place)
    for _ in range(number):
        assert update(own, 1) == 1
        client.do_handshake()
