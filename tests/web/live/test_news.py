"""The feed of news: who is told what, from where on, and how late."""

from __future__ import annotations

from msgspec.structs import replace
from support.web.feeds import lines, move, news

from cgos_protocol.facts import BotArrived, EventMoved, GameEnded, QuestionMoved
from cgos_protocol.ids import QuestionId
from cgos_server.web.live.framing import Form


def test_whoever_is_too_far_behind_needs_a_picture() -> None:
    feed = news(kept=10)
    for ply in range(1, 22):
        feed.add(move(ply), 0)
    assert feed.since(0, None, True, Form.NDJSON) is None
    assert [line["ply"] for line in lines(feed.since(feed.head - 3, None, True, Form.NDJSON))] == [19, 20, 21]


def test_a_venue_is_told_its_own_and_moves_where_they_are_wanted() -> None:
    feed = news()
    feed.add(move(1), 0)
    feed.add(move(1, "small"), 0)
    feed.add(BotArrived("small", "Ann"), 0)
    assert [line["event"] for line in lines(feed.since(0, "small", True, Form.NDJSON))] == ["move", "arrived"]
    assert [line["event"] for line in lines(feed.since(0, None, False, Form.NDJSON))] == ["arrived"]


def test_what_happens_in_an_event_is_told_where_it_is_played() -> None:
    feed = news()
    feed.add(EventMoved(venue="small", event="Open", seq=7, kind="paired", phase="running", round=2, at=1.5), 0)
    (line,) = lines(feed.since(0, "small", False, Form.NDJSON))
    assert line == {
        "event": "event-moved", "venue": "small", "name": "Open", "seq": 7, "kind": "paired", "phase": "running",
        "round": 2, "at": 1500,
    }  # fmt: skip
    assert lines(feed.since(0, "large", False, Form.NDJSON)) == []


def test_what_comes_of_a_question_is_told_where_it_is_asked() -> None:
    feed = news()
    fact = QuestionMoved(
        venue="small", question=QuestionId(3), kind="test", what="result", state="open", version="B-2", against="B-1",
        games=8, at=1.5, llr=0.25,
    )  # fmt: skip
    feed.add(fact, 0)
    feed.add(replace(fact, kind="challenge", against="", llr=None), 0)
    first, second = lines(feed.since(0, "small", False, Form.NDJSON))
    assert first == {
        "event": "question-moved", "venue": "small", "question": 3, "kind": "test", "what": "result", "state": "open",
        "version": "B-2", "against": "B-1", "games": 8, "llr": 0.25, "at": 1500,
    }  # fmt: skip
    assert (second["against"], second["llr"]) == (None, None)
    assert lines(feed.since(0, "large", False, Form.NDJSON)) == []


def test_ids_of_another_process_are_none() -> None:
    feed = news()
    assert feed.place(feed.identity(0)) == 0
    for identity in ("", "7", "cd-0", "ab-", "ab-x", "ab--1", "ab-" + "9" * 400, "ab-٣"):
        assert feed.place(identity) is None
    assert feed.place("ab-99") == 0


def test_moves_of_a_delayed_venue_wait_and_their_end_does_not() -> None:
    feed = news(**{"9x9": 1000})
    feed.add(move(1), 0)
    feed.add(move(2), 500)
    feed.release(999)
    assert lines(feed.since(0, None, True, Form.NDJSON)) == []
    assert feed.next_due == 1000
    feed.release(1000)
    assert [line["ply"] for line in lines(feed.since(0, None, True, Form.NDJSON))] == [1]
    feed.add(GameEnded(venue="9x9", game=1, result="B+1.0", reason="score", at=1.0), 1001)
    assert [line["event"] for line in lines(feed.since(1, None, True, Form.NDJSON))] == ["move", "ended"]
    assert feed.next_due is None


def test_each_venues_delay_is_waited_for_after_a_loss() -> None:
    feed = news(**{"9x9": 1000, "slow": 60_000})
    feed.lost(0)
    breaks = []
    for now in (1000, 1001, 60_000, 60_001):
        head = feed.head
        feed.release(now)
        breaks.append(feed.head > head)
    assert breaks == [False, True, False, True]
