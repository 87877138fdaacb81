"""What is read from a certificate's files, and what happens when they change."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.net.certificates import expired, openssl, self_signed

from cgos_protocol.errors import Code, Invalid
from cgos_server.net.tls.certificates import CertificateKeeper, TlsFiles, read_certificate


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return self_signed(tmp_path_factory.mktemp("pair"))


def test_what_a_certificate_says_is_what_openssl_says(pair: TlsFiles) -> None:
    certificate = read_certificate(pair)
    assert certificate.names == ("localhost", "127.0.0.1")
    shown = openssl("x509", "-in", pair.certificate, "-noout", "-enddate").strip().removeprefix("notAfter=")
    assert certificate.expires_at == ssl.cert_time_to_seconds(shown)
    assert certificate.expires_at - certificate.begins_at == 30 * 86_400
    assert certificate.context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_an_expired_certificate_is_read(tmp_path: Path) -> None:
    """It is the operator's to see that it has expired; the server goes on."""
    certificate = read_certificate(expired(tmp_path))
    assert certificate.expires_at == ssl.cert_time_to_seconds("Jan  2 00:00:00 2020 GMT")
    assert certificate.names == ()


def missing(files: TlsFiles, directory: Path) -> TlsFiles:
    return TlsFiles(certificate=files.certificate, key=str(directory / "nothing"))


def of_another(files: TlsFiles, directory: Path) -> TlsFiles:
    return TlsFiles(certificate=files.certificate, key=self_signed(directory, word="other").key)


def encrypted(files: TlsFiles, directory: Path) -> TlsFiles:
    key = str(directory / "encrypted")
    openssl("ec", "-in", files.key, "-aes256", "-passout", "pass:secret", "-out", key)
    return TlsFiles(certificate=files.certificate, key=key)


def half_written(files: TlsFiles, directory: Path) -> TlsFiles:
    half = directory / "half"
    half.write_text(Path(files.certificate).read_text()[:200])
    return TlsFiles(certificate=str(half), key=files.key)


def unreadable(files: TlsFiles, directory: Path) -> TlsFiles:
    """Root can read any file; a directory nobody can."""
    return TlsFiles(certificate=files.certificate, key=str(directory))


def swapped(files: TlsFiles, _directory: Path) -> TlsFiles:
    return TlsFiles(certificate=files.key, key=files.certificate)


def garbage(files: TlsFiles, directory: Path) -> TlsFiles:
    key = directory / "garbage"
    key.write_bytes(bytes(range(256)))
    return TlsFiles(certificate=files.certificate, key=str(key))


def empty(files: TlsFiles, directory: Path) -> TlsFiles:
    certificate = directory / "empty"
    certificate.touch()
    return TlsFiles(certificate=str(certificate), key=files.key)


SPOILT = pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (unreadable, "cannot be read (Is a directory). Name a file that this user can read."),
        (swapped, "own.key has no line with BEGIN CERTIFICATE"),
        (garbage, "garbage has no line with BEGIN PRIVATE KEY"),
        (empty, "empty has no line with BEGIN CERTIFICATE"),
        (missing, "cannot be read (No such file or directory)"),
        (of_another, "does not fit the certificate"),
        (encrypted, "is encrypted. Write it without a password"),
        (half_written, "cannot be used ("),
    ],
)


@SPOILT
def test_a_pair_that_cannot_be_used_is_refused(
    spoil: Callable[[TlsFiles, Path], TlsFiles], words: str, pair: TlsFiles, tmp_path: Path
) -> None:
    with pytest.raises(Invalid) as raised:
        read_certificate(spoil(pair, tmp_path))
    assert raised.value.code is Code.CERTIFICATE
    assert words in raised.value.sentence


@SPOILT
async def test_it_is_refused_at_a_reload_as_well_and_the_one_of_before_goes_on(
    spoil: Callable[[TlsFiles, Path], TlsFiles], words: str, tmp_path: Path
) -> None:
    files, aside = self_signed(tmp_path), tmp_path / "aside"
    aside.mkdir()
    keeper = CertificateKeeper(files)
    for path in (files.certificate, files.key):
        shutil.copy(path, aside)
    spoilt = spoil(TlsFiles(certificate=str(aside / "own.pem"), key=str(aside / "own.key")), aside)
    for path, by in ((files.certificate, spoilt.certificate), (files.key, spoilt.key)):
        os.remove(path)
        os.symlink(by, path)
    sentence = str(await keeper.reload())
    assert words.partition(" ")[2] in sentence
    assert sentence.endswith(".")
    assert (keeper.current.names, keeper.failures) == (("localhost", "127.0.0.1"), 1)


async def test_files_that_go_while_they_are_read_are_refused_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = self_signed(tmp_path)
    keeper = CertificateKeeper(files)
    read = Path.read_bytes

    def read_and_replaced(path: Path) -> bytes:
        content = read(path)
        if str(path) == files.key:
            path.unlink()
        return content

    monkeypatch.setattr(Path, "read_bytes", read_and_replaced)
    assert "cannot be read (No such file or directory)" in str(await keeper.reload())
    assert (keeper.current.names, keeper.failures) == (("localhost", "127.0.0.1"), 1)


async def test_an_expired_certificate_is_warned_of_at_the_start_and_at_a_reload(
    tmp_path: Path,
) -> None:
    with capture_logs() as logs:
        keeper = CertificateKeeper(expired(tmp_path))
        await keeper.reload()
    warnings = [entry for entry in logs if entry["log_level"] == "warning"]
    assert [entry["expires_at"] for entry in warnings] == ["2020-01-02T00:00:00Z"] * 2


class Looks:
    """The pauses of a keeper: each `next` lets it look once."""

    def __init__(self) -> None:
        self._paused = asyncio.Semaphore(0)
        self._gate = asyncio.Semaphore(0)

    async def pause(self, _seconds: float) -> None:
        self._paused.release()
        await self._gate.acquire()

    async def next(self) -> None:
        await self._paused.acquire()
        self._gate.release()
        await self._paused.acquire()
        self._paused.release()


def replaced(files: TlsFiles, by: TlsFiles, *, key: bool = True) -> None:
    """As `certbot` and others do: a new file in the place of the old one."""
    for old, new in ((files.certificate, by.certificate), (files.key, by.key))[: 2 if key else 1]:
        shutil.copy(new, f"{old}.new")
        os.replace(f"{old}.new", old)


async def test_changed_files_are_read_once_they_stay_and_a_broken_pair_changes_nothing(tmp_path: Path) -> None:
    files, next_one = self_signed(tmp_path), self_signed(tmp_path, "DNS:next", word="next")
    looks = Looks()
    keeper = CertificateKeeper(files, looks.pause)
    first = keeper.current
    async with asyncio.TaskGroup() as group:
        running = group.create_task(keeper.run())
        await looks.next()
        assert keeper.current is first

        replaced(files, next_one, key=False)
        await looks.next()
        assert keeper.failures == 0, "perhaps the other file follows"
        await looks.next()
        assert (keeper.current, keeper.failures) == (first, 1)
        await looks.next()
        assert keeper.failures == 1, "the same files are not tried again"

        replaced(files, next_one)
        await looks.next()
        await looks.next()
        assert keeper.current.names == ("next",)
        assert keeper.context() is not first.context
        running.cancel()


async def test_a_reload_reads_at_once_and_says_what_is_wrong(tmp_path: Path) -> None:
    files, next_one = self_signed(tmp_path), self_signed(tmp_path, "DNS:next", word="next")
    keeper = CertificateKeeper(files)
    replaced(files, next_one, key=False)
    assert "does not fit" in str(await keeper.reload())
    assert keeper.current.names == ("localhost", "127.0.0.1")
    replaced(files, next_one)
    assert await keeper.reload() is None
    assert keeper.current.names == ("next",)
    os.remove(files.key)
    assert "cannot be read" in str(await keeper.reload())
    assert (keeper.current.names, keeper.failures) == (("next",), 2)
