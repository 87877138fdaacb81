"""Transcripts: what is written and read again, within which bounds, and that no secret ever is among it."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from cgos_server.observability.transcript_files import MASK, TranscriptLine, forget, highest_number, read
from cgos_server.observability.transcripts import (
    EARLY,
    EARLY_BYTES,
    TEXT_MAX,
    Buffers,
    TranscriptRecorder,
    Transcripts,
)

S = 1_000_000
DAY = 86_400 * S
WALL = 1_700_000_000 * S
ALWAYS = 10**18


class Keeper:
    """Transcripts with a clock of its own, written by hand. Loop's clock 0 is `WALL`."""

    def __init__(self, folder: Path, days: float = 7.0, most: int = 65_536) -> None:
        self.folder = folder
        self.wall = WALL
        self.transcripts = Transcripts(folder, days, most, wall_us=lambda: self.wall, offset_us=lambda: WALL)

    def bot(self, number: int = 5, name: str = "anna", connection: int = 9) -> TranscriptRecorder:
        recorder = self.transcripts.recorder(connection, "9x9")
        recorder.named(number, name)
        return recorder

    def read(self, bot: int = 5, limit: int = 10**6, **bounds: object) -> list[TranscriptLine]:
        bounds = {"since_us": 0, "until_us": ALWAYS} | bounds
        return read(self.folder, bot, limit=limit, **bounds)  # type: ignore[arg-type]

    def size(self, bot: int = 5) -> int:
        return sum(path.stat().st_size for path in (self.folder / str(bot)).iterdir())


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path / "transcripts")


def test_what_was_said_is_read_again_with_its_times(keeper: Keeper) -> None:
    recorder = keeper.transcripts.recorder(9, "9x9")
    recorder.heard(b"e1 engine", 1 * S)
    recorder.named(5, "anna-2")
    recorder.about(7)
    recorder.said(b"play b D4 1000\ngenmove w 2000\n", 2 * S)
    recorder.heard(b"E5 {}", 3 * S)
    assert keeper.read() == []
    keeper.transcripts.write()
    assert keeper.read() == [
        TranscriptLine(at=WALL + 1 * S, name="anna-2", connection=9, way="<", text="e1 engine", venue="9x9"),
        TranscriptLine(
            at=WALL + 2 * S, name="anna-2", connection=9, way=">", text="play b D4 1000", venue="9x9", game=7
        ),
        TranscriptLine(
            at=WALL + 2 * S, name="anna-2", connection=9, way=">", text="genmove w 2000", venue="9x9", game=7
        ),
        TranscriptLine(at=WALL + 3 * S, name="anna-2", connection=9, way="<", text="E5 {}", venue="9x9", game=7),
    ]
    assert [line.text for line in keeper.read(limit=2)] == ["genmove w 2000", "E5 {}"]
    assert [line.text for line in keeper.read(since_us=WALL + 1, until_us=WALL + S)] == ["e1 engine"]
    assert keeper.read(name="anna") == []
    assert len(keeper.read(game=7)) == 3
    assert keeper.read(6) == []


def test_a_blank_line_is_not_written_and_costs_nobody_else_a_line(keeper: Keeper) -> None:
    keeper.bot(5, "anna").heard(b"", 1 * S)
    keeper.bot(6, "bert", connection=10).heard(b"E5", 1 * S)
    keeper.transcripts.write()
    assert keeper.read(5) == []
    assert [line.text for line in keeper.read(6)] == ["E5"]


def test_messages_know_their_game_in_either_encoding(keeper: Keeper) -> None:
    recorder = keeper.bot()
    message = {"type": "moved", "game": 12, "move": "D4"}
    recorder.said_message(msgspec.json.encode(message), 1, False)
    recorder.said_message(msgspec.msgpack.encode(message), 2, True)
    recorder.heard_message(b"\xc1", 3, True)
    keeper.transcripts.write()
    first, second, third = keeper.read()
    assert first.game == second.game == 12
    assert first.text == second.text == '{"type":"moved","game":12,"move":"D4"}'
    assert third.text == "(1 bytes that are no message)"


def test_numbers_are_known_from_what_the_server_wrote(keeper: Keeper) -> None:
    assert highest_number(keeper.folder) == 0
    keeper.bot(5, "anna", connection=900).heard_message(b'{"type":"move","game":9007199254740991}', 1, False)
    keeper.bot(6, "bert", connection=800).heard(b"E5", 1 * S)
    keeper.transcripts.write()
    assert highest_number(keeper.folder) == 900
    (keeper.folder / "1000").mkdir()
    assert highest_number(keeper.folder) == 1000


def test_who_never_signs_in_leaves_nothing_and_holds_little(keeper: Keeper) -> None:
    recorder = keeper.transcripts.recorder(1)
    for number in range(10 * EARLY):
        recorder.heard(b"x" * 100, number)
    assert recorder._early is not None
    assert len(recorder._early) == EARLY
    keeper.transcripts.write()
    assert not keeper.folder.exists()


def test_long_messages_before_the_sign_in_are_bounded_and_a_sign_in_after_them_is_kept(keeper: Keeper) -> None:
    recorder = keeper.transcripts.recorder(1)
    for number in range(EARLY - 1):
        recorder.heard_message(b'{"x":"%s"}' % (b"x" * 60_000), number, False)
    assert recorder._early is not None
    assert 60_000 < sum(len(early[2]) for early in recorder._early) <= EARLY_BYTES
    recorder.heard_message(b'{"type":"sign_in"}', 99, False)
    recorder.named(5, "anna")
    keeper.transcripts.write()
    assert keeper.read()[-1].text == '{"type":"sign_in"}'


def test_a_bots_bytes_are_bounded_and_the_oldest_go(keeper: Keeper) -> None:
    recorder = keeper.bot()
    other = keeper.bot(6, "bert")
    other.heard(b"hello", 0)
    for number in range(9000):
        recorder.heard(b"%06d" % number, number * 1000)
        if number % 70 == 0:
            keeper.transcripts.write()
            assert keeper.size() <= 65_536
    keeper.transcripts.write()
    numbers = [int(line.text) for line in keeper.read()]
    assert numbers == list(range(numbers[0], 9000))
    assert numbers[0] > 0
    assert keeper.size() > 65_536 / 2
    assert [line.text for line in keeper.read(6)] == ["hello"]
    assert [int(line.text) for line in keeper.read(limit=5)] == list(range(8995, 9000))


def test_one_batch_larger_than_all_a_bot_may_have_keeps_its_end(keeper: Keeper) -> None:
    recorder = keeper.bot()
    for number in range(200):
        recorder.heard(b"%d " % number + b"x" * 2000, number)
    keeper.transcripts.write()
    assert keeper.size() <= 65_536
    assert keeper.read()[-1].text.startswith("199 ")


def test_old_lines_go_also_those_of_bots_that_are_away(keeper: Keeper) -> None:
    keeper.bot().heard(b"long ago", 0)
    keeper.transcripts.write()
    path = next((keeper.folder / "5").iterdir())
    os.utime(path, (WALL / S, WALL / S))
    keeper.transcripts.sweep()
    keeper.wall += 8 * DAY
    keeper.transcripts.sweep()
    assert not (keeper.folder / "5").exists()
    keeper.bot().heard(b"again", 8 * DAY)
    keeper.transcripts.write()
    assert [line.text for line in keeper.read()] == ["again"]


def test_a_folder_that_cannot_be_written_costs_lines_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "transcripts").write_text("a file stands in the way")
    keeper = Keeper(tmp_path / "transcripts")
    with capture_logs() as logs:
        keeper.bot().heard(b"lost", 0)
        keeper.transcripts.write()
        keeper.bot().said(b"lost\ntoo\n", 0)
        keeper.transcripts.write()
        assert keeper.transcripts.dropped == 3
        (tmp_path / "transcripts").unlink()
        keeper.transcripts.write()  # nothing was tried: it is not over
        assert len(logs) == 1
        keeper.bot().heard(b"kept", 0)
        keeper.transcripts.write()
        keeper.bot(7).heard(b"kept, too", 0)
        keeper.transcripts.write()
    assert [log["event"].partition(";")[0] for log in logs] == [
        "transcripts cannot be written", "transcripts are written again"
    ]  # fmt: skip
    assert [line.text for line in keeper.read()] == ["kept"]
    assert keeper.transcripts.dropped == 3


def test_much_that_waits_is_handed_over_at_the_next_look() -> None:
    buffers = Buffers(most_bytes=100)
    taps = [TranscriptRecorder(_buffers=buffers, _connection=number, _venue="9x9") for number in (1, 2)]
    for recorder in taps:
        recorder.named(1, "anna")
        recorder.said(b"x" * 22 + b"\n", 5)  # 25 bytes with its time and its mark
    assert buffers.take(since=5) == []
    taps[0].said(b"\n", 5)
    assert [len(passage.entries) for passage in buffers.take(since=5)] == [2, 1]


def test_what_waits_is_bounded_in_bytes() -> None:
    buffers = Buffers(most_bytes=40)
    recorder = TranscriptRecorder(_buffers=buffers, _connection=1, _venue="9x9")
    recorder.named(1, "anna")
    for _ in range(15):
        recorder.heard(b"x", 0)  # four bytes with its time, its mark and its end
    assert buffers.dropped == 5
    (passage,) = buffers.take()
    assert passage.entries == [b"0<x\n"] * 10
    buffers.written(sum(map(len, passage.entries)))
    recorder.said(b"x" * 36 + b"\n", 0)
    recorder.said(b"xx\n", 0)
    assert buffers.dropped == 6
    assert len(buffers.take()) == 1
    assert buffers.take() == []


def test_a_line_that_was_cut_costs_no_other_line(keeper: Keeper) -> None:
    keeper.bot().heard(b"before", 1 * S)
    keeper.transcripts.write()
    (path,) = (keeper.folder / "5").iterdir()
    path.write_bytes(path.read_bytes() + b"17000000<D")  # the machine's end
    again = Keeper(keeper.folder)
    again.bot().heard(b"after", 2 * S)
    again.transcripts.write()
    again.bot().heard(b"and on", 3 * S)
    again.transcripts.write()
    assert [line.text for line in again.read()] == ["before", "after", "and on"]


def test_nobody_else_may_look_in(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path / "transcripts")
    keeper.bot().heard(b"hello", 1 * S)
    keeper.transcripts.write()
    modes = {path.name: path.stat().st_mode & 0o777 for path in (keeper.folder, keeper.folder / "5")}
    assert modes == {"transcripts": 0o700, "5": 0o700}
    assert [path.stat().st_mode & 0o777 for path in (keeper.folder / "5").iterdir()] == [0o600]


def test_a_long_line_is_cut_and_broken_lines_in_a_file_are_left_out(keeper: Keeper) -> None:
    keeper.bot().heard(b"y" * (TEXT_MAX + 7), 0)
    keeper.transcripts.write()
    path = next((keeper.folder / "5").iterdir())
    with path.open("ab") as file:
        file.write(b"1<D")
    (line,) = keeper.read()
    assert line.text == "y" * TEXT_MAX + " (and 7 bytes more)"
    forget(keeper.folder)
    assert keeper.read() == []


async def test_the_thread_writes_what_is_left_when_the_server_ends(tmp_path: Path) -> None:
    before = threading.active_count()
    with Transcripts(tmp_path, 7.0, 65_536) as transcripts:
        recorder = transcripts.recorder(1, "9x9")
        recorder.named(5, "anna")
        recorder.heard(b"the last words", 0)
    assert threading.active_count() == before
    assert [line.text for line in read(tmp_path, 5, since_us=0, until_us=ALWAYS, limit=5)] == ["the last words"]


secrets = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=12)


@settings(max_examples=60, deadline=None)
@given(secrets, st.none() | secrets, st.lists(st.sampled_from("abcdef"), max_size=12), st.booleans())
def test_no_secret_is_ever_in_a_file(
    tmp_path_factory: pytest.TempPathFactory, secret: str, new: str | None, order: list[str], late: bool
) -> None:
    """However a bot repeats its password: alone, in a sentence, in a message, before or after the sign-in."""
    keeper = Keeper(tmp_path_factory.mktemp("said"))
    recorder = keeper.transcripts.recorder(1, "9x9")
    words = [word for word in (secret, new) if word is not None]

    def say() -> None:
        for kind in order:
            for word in words:
                match kind:
                    case "a":
                        recorder.heard(word.encode(), 0)
                    case "b":
                        recorder.heard(f"password {word} {word}x".encode(), 0)
                    case "c":
                        recorder.heard_message(
                            msgspec.json.encode({"type": "move", "game": 1, "custom": word}), 0, False
                        )
                    case "d":
                        recorder.said(f"Error: {word} is wrong\ninfo {word}\n".encode(), 0)
                    case "e":
                        recorder.said_message(msgspec.msgpack.encode({"text": word}), 0, True)
                    case "f":
                        recorder.heard(b"cgos_" + b"A" * 40, 0)

    if late:
        say()
    recorder.secrets(secret, new)
    recorder.named(5, "=")
    say()
    recorder.heard(b"it goes on", 0)
    keeper.transcripts.write()
    lines = keeper.read()
    assert lines[-1].text.replace(MASK, "") or MASK in lines[-1].text
    for line in lines:
        texts = [line.text.replace(MASK, "")]
        if line.text.startswith("{"):
            texts += [str(value).replace(MASK, "") for value in json.loads(line.text).values()]
        for text in texts:
            assert not any(word in text for word in words if len(word) > 4 or text == word), line
            assert "cgos_A" not in text


def test_a_password_of_digits_leaves_the_times_as_they_are(keeper: Keeper) -> None:
    recorder = keeper.transcripts.recorder(1, "9x9")
    recorder.secrets("1234")
    recorder.named(5, "anna")
    recorder.heard(b"my 1234", 1234 * S)
    keeper.transcripts.write()
    (line,) = keeper.read()
    assert (line.at, line.text) == (WALL + 1234 * S, f"my {MASK}")
