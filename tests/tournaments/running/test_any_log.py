"""Any sequence of entries: each either is refused and changes nothing, or folds; and folding the log again gives the
same state."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, NO_CONTEST, VOID, WHITE_WINS, Bye, Game, Round
from cgos_server.tournaments.event import open_games
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, Limits, Times
from cgos_server.tournaments.running.state import EventState, after, announced, fold
from cgos_server.tournaments.running.steps import BOTH_FORFEIT, paired
from cgos_server.tournaments.tournament import ready_games

SYSTEMS = ("round-robin", "swiss", "cup", "double-elimination", "bubble", "mcmahon")
NUMBER = st.integers(-1, 7)
ROUND = st.integers(-1, 4)
RESULT = st.sampled_from((BLACK_WINS, WHITE_WINS, DRAWN, VOID, NO_CONTEST, BOTH_FORFEIT))
REASON = st.sampled_from(("", "so"))
SEVERAL = st.lists(NUMBER, max_size=3).map(tuple)
SAME = st.sampled_from(("owner", "family", None))


def a_version(entrant: int, version: int, waits: bool) -> log.Entered:
    return log.Entered(
        entrant=entrant,
        version=VersionId(version),
        bot=BotId(version),
        name=f"Bot-{version}",
        family=BotId(version),
        waits=waits,
    )


SETTINGS = st.builds(
    EventSettings,
    name=st.sampled_from(("E", "F")),
    venue=st.just("9x9"),
    system=st.sampled_from(SYSTEMS),
    rounds=st.none() | ROUND,
    late=st.booleans(),
    limits=st.builds(Limits, most=st.none() | NUMBER),
    times=st.builds(Times, check_in_s=st.sampled_from((0, 5)), starts_at=st.none() | st.just(9_000)),
)
ROUNDS = st.builds(
    Round,
    number=ROUND,
    games=st.lists(st.builds(Game, black=NUMBER, white=NUMBER), max_size=2).map(tuple),
    byes=st.lists(st.builds(Bye, NUMBER, NUMBER), max_size=1).map(tuple),
)
SAID: st.SearchStrategy[log.Said] = st.one_of(
    st.builds(log.Announced, settings=SETTINGS),
    st.just(log.Opened()),
    st.builds(a_version, NUMBER, NUMBER, st.booleans()),
    st.builds(log.Admitted, entrant=NUMBER),
    st.builds(log.CheckedIn, entrant=NUMBER, signed_in=st.booleans()),
    st.builds(log.Withdrawn, entrant=NUMBER, reason=REASON, by=st.sampled_from(log.PARTIES)),
    st.builds(log.Rejoined, entrant=NUMBER),
    st.builds(log.ByeAsked, entrant=NUMBER, round=ROUND, points=NUMBER),
    st.builds(log.ByeCancelled, entrant=NUMBER, round=ROUND),
    st.builds(log.Forbidden, entrants=SEVERAL, same=SAME, reason=REASON),
    st.builds(log.Lifted, entrants=SEVERAL, same=SAME, reason=REASON),
    st.builds(log.Struck, entrant=NUMBER, reason=REASON),
    st.builds(log.Closed, ratings=st.just({})),
    st.just(log.Started()),
    st.builds(log.Paired, round=ROUNDS),
    st.builds(log.Began, game=NUMBER, played_as=NUMBER.map(GameId)),
    st.builds(log.Ended, game=NUMBER, result=RESULT),
    st.builds(log.Ruled, game=NUMBER, result=st.none() | RESULT, reason=REASON, with_results=st.booleans()),
    st.builds(log.TakenBack, reason=REASON, with_results=st.booleans()),
    st.builds(log.Paused, reason=REASON),
    st.just(log.Resumed()),
    st.builds(log.Extended, rounds=st.none() | ROUND, grace_s=st.none() | NUMBER),
    st.just(log.Finished()),
    st.builds(log.Cancelled, reason=REASON),
)
NEXT_GAMES = st.just(None)
"""In the place of an entry: whatever the system pairs."""


def what_the_system_says(state: EventState) -> log.Said | None:
    try:
        return paired(state, ready_games(state.event)) if state.started_at is not None else None
    except Refused:
        return None


@settings(max_examples=150, deadline=None)
@given(
    system=st.sampled_from(SYSTEMS),
    entrants=st.integers(0, 5),
    sequence=st.lists(SAID | NEXT_GAMES, max_size=40),
)
def test_any_entry_is_refused_or_folds(system: str, entrants: int, sequence: list[log.Said | None]) -> None:
    state = announced(EventSettings(name="E", venue="9x9", system=system, rounds=None))
    before: list[log.Said] = [log.Announced(settings=state.settings), log.Opened()]
    before += [a_version(number, number, waits=False) for number in range(1, entrants + 1)]
    before += [log.Closed(ratings={}), log.Started()] if entrants > 1 else []
    entries: list[log.LogEntry] = []
    for said in (*before, *sequence):
        words = what_the_system_says(state) if said is None else said
        if words is None:
            continue
        entry = log.LogEntry(state.seq + 1, 1_000 * len(entries), "x", log.decode(log.encode(words)))
        as_it_was = log.encode(log.Announced(settings=state.settings)), repr(state)
        try:
            following = after(state, entry)
        except Refused:
            assert (log.encode(log.Announced(settings=state.settings)), repr(state)) == as_it_was
            continue
        entries.append(entry)
        state = following
        assert state.open_games == open_games(state.event)
        assert set(state.open) == {game.id for _, game in state.open_games}
        assert state.due_at.keys() >= state.open.keys()
    assert fold(entries) == state
