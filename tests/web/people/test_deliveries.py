"""What became of webhooks' messages outlives the web process, and whatever lies in the file's place does no harm."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from cgos_server.web.people import deliveries
from cgos_server.web.people.deliveries import FILE, HOOKS_MAX, NOTHING, SENTENCE_MAX, Deliveries, Kept, Outcome

NOW = 1_795_305_600_000
GOOD = Outcome(at=NOW - 5, event="game-ended", delivered=True, sentence="It was answered 200.", tries=1)
BAD = Outcome(at=NOW - 3, event="game-ended", delivered=False, sentence="It was answered 500.", tries=2)


def at(data: Path | None, now: int = NOW) -> Deliveries:
    return Deliveries(data, lambda: now)


def test_the_next_process_knows_what_this_one_knew(tmp_path: Path) -> None:
    first = at(tmp_path)
    first.note(7, GOOD)
    first.note(7, BAD)
    first.note(7, BAD)
    first.until = NOW + 500
    asyncio.run(first.save())
    later = at(tmp_path, NOW + 9_000)
    assert later.of(7) == Kept(well=False, success=GOOD, failure=BAD, in_a_row=2)
    assert later.of(7).latest == BAD
    assert later.of(8) == NOTHING
    assert (later.since, later.until) == (NOW, NOW + 500)
    later.note(7, GOOD)
    assert (later.of(7).latest, later.of(7).in_a_row, later.of(7).failure) == (GOOD, 0, BAD)


def test_a_test_is_the_latest_and_not_counted() -> None:
    kept = at(None)
    kept.note(7, BAD)
    kept.note(7, msgspec.structs.replace(GOOD, event="test"))
    assert kept.of(7).in_a_row == 1
    assert kept.of(7).latest == msgspec.structs.replace(GOOD, event="test")
    kept.note(7, msgspec.structs.replace(BAD, event="test"))
    assert kept.of(7).in_a_row == 1


def test_the_file_is_private_and_replaced_whole(tmp_path: Path) -> None:
    kept = at(tmp_path)
    kept.note(7, GOOD)
    old = os.umask(0)
    try:
        asyncio.run(kept.save())
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    before = (tmp_path / FILE).stat().st_ino
    (tmp_path / f"{FILE}.new").write_text("half")  # a process died here
    asyncio.run(kept.save())
    assert (tmp_path / FILE).stat().st_ino == before, "nothing new, nothing written"
    kept.note(7, BAD)
    asyncio.run(kept.save())
    assert (tmp_path / FILE).stat().st_ino != before
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert at(tmp_path).of(7).failure == BAD


def file(**more: Any) -> dict[str, Any]:
    return {"format": 1, "since": NOW - 9, "until": NOW - 1, "hooks": {}} | more


HOSTILE: list[bytes] = [
    b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000,
    *(
        msgspec.json.encode(message)
        for message in (
            {}, file(format=2), file(since="x"), file(until=-1), file(until=10**30), file(hooks=[]),
            file(hooks={"x": {}}), file(hooks={"1": {"in_a_row": -1}}), file(hooks={"1": {"in_a_row": 10**12}}),
            file(hooks={"1": {"success": {"at": 1}}}), file(hooks={"1": {"recent": ["x"] * 51}}),
            file(hooks={"1": {"recent": ["x" * 65]}}), file(hooks={"1": {"owed_from": 1.5}}),
            file(hooks={"1": {"failure": msgspec.to_builtins(BAD) | {"sentence": "x" * (SENTENCE_MAX + 1)}}}),
            file(hooks={str(count): {} for count in range(HOOKS_MAX + 1)}),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_a_damaged_file_counts_as_none_and_gives_way(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    kept = at(tmp_path)
    assert (kept.since, kept.until, kept.figures()) == (NOW, NOW, {})
    kept.note(7, GOOD)
    asyncio.run(kept.save())
    assert at(tmp_path).of(7).success == GOOD


@given(content=st.binary(max_size=200))
def test_any_bytes_at_all(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    data = tmp_path_factory.mktemp("data")
    (data / FILE).write_bytes(content)
    assert at(data).figures() == {}


def test_what_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FILE).write_bytes(msgspec.json.encode(file()) + b" " * 1_000)
    assert at(tmp_path).since == NOW - 9
    monkeypatch.setattr(deliveries, "FILE_MAX", 500)
    assert at(tmp_path).since == NOW


def test_no_link_is_followed_and_no_pipe_waited_for(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(msgspec.json.encode(file()))
    data = tmp_path / "data"
    data.mkdir()
    (data / FILE).symlink_to(elsewhere)
    kept = at(data)
    assert kept.since == NOW
    (data / f"{FILE}.new").symlink_to(elsewhere)
    kept.note(7, GOOD)
    asyncio.run(kept.save())
    assert elsewhere.read_bytes() == msgspec.json.encode(file())
    assert not (data / FILE).is_symlink()
    (data / FILE).unlink()
    os.mkfifo(data / FILE)
    assert at(data).since == NOW


def test_a_disk_that_refuses_is_survived(tmp_path: Path) -> None:
    kept = at(tmp_path / "nowhere")
    kept.note(7, GOOD)
    with capture_logs() as logs:
        asyncio.run(kept.save())
        asyncio.run(kept.save())
        assert kept.of(7).success == GOOD
        assert not (tmp_path / "nowhere").exists()
        (tmp_path / "nowhere").mkdir()
        asyncio.run(kept.save())
        kept.note(7, BAD)
        asyncio.run(kept.save())
    assert [log["event"] for log in logs] == [
        "what became of webhooks cannot be kept", "what became of webhooks is kept again"
    ]  # fmt: skip
    (tmp_path / FILE).mkdir()
    asyncio.run(at(tmp_path).save())


def test_a_file_from_the_future_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(msgspec.json.encode(file(since=NOW + 10**9, until=NOW + 10**9)))
    kept = at(tmp_path)
    assert (kept.since, kept.until) == (NOW, NOW)


def test_it_is_bounded(tmp_path: Path) -> None:
    kept = at(tmp_path)
    for hook in range(HOOKS_MAX + 5):
        kept.note(hook, msgspec.structs.replace(BAD, sentence="x" * 10_000))
    assert len(kept.figures()) == HOOKS_MAX
    assert kept.of(0) == NOTHING
    asyncio.run(kept.save())
    assert (tmp_path / FILE).stat().st_size < 600 * HOOKS_MAX
    assert len(at(tmp_path).figures()) == HOOKS_MAX
