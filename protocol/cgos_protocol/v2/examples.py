"""An example or two of every message of ``cgos.v2``: values of the message types, so that none can be out of shape.

They belong together: one bot's games and what a watcher sees of them. Must not know: connections, encodings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from cgos_protocol import facts
from cgos_protocol.errors import Code
from cgos_protocol.event_news import EventWhat
from cgos_protocol.ids import GameId, QuestionId
from cgos_protocol.v2 import messages as ws

_GAME: Final = GameId(17)
_RULES: Final = ws.RulesInfo(game="go", size=9, komi=7.0, ko="positional", suicide=False)
_TIME: Final = ws.TimeInfo(system="fischer", main_ms=300_000, increment_ms=2_000, lag_ms=250)
_BLACK: Final = ws.Player("my-engine", "1800?")
_WHITE: Final = ws.Player("GNUGo-L0", "1803")
_KNOWN: Final = ws.KnownGame(_GAME, 2)


_NEW_GAME: Final = ws.Game(
    game=_GAME,
    venue="9x9",
    color="black",
    rules=_RULES,
    time=_TIME,
    black=_BLACK,
    white=_WHITE,
    from_ply=0,
    moves=[],
    black_ms=300_000,
    white_ms=300_000,
    rated=True,
    why="They are near each other.",
)
_OPPONENT_MOVED: Final = ws.Moved(
    game=_GAME,
    ply=2,
    color="white",
    move="C5",
    black_ms=301_900,
    white_ms=301_800,
    at=1_767_225_612.3,
    your_turn=True,
)

EXAMPLES: Final[Mapping[str, ws.ClientMessage | ws.ServerMessage]] = {
    "A bot that plays under its own name": ws.SignIn(
        bot="my-engine", secret="0f1e2d3c4b5a", venues=["9x9"], client="mine 1.0"
    ),
    "A version with two games at once, which comes back to a game": ws.SignIn(
        bot="my-engine",
        secret="0f1e2d3c4b5a",
        venues=["9x9", "13x13"],
        version="1.2",
        wire_name="my-engine-fast",
        engine="My Engine 1.2",
        parameters={"playouts": 800, "book": True},
        author="A. Body",
        client="mine 1.0",
        slots=2,
        limits=ws.OwnerLimits(
            games_a_day=50, avoid=["my-engine"], accepts=["their-engine"], hours="Mon-Fri 18-24, Sat"
        ),
        games=[_KNOWN],
    ),
    "A new version that comes from another one than the newest": ws.SignIn(
        bot="my-engine",
        secret="0f1e2d3c4b5a",
        venues=["9x9"],
        version="1.3",
        predecessor=ws.Predecessor(version="my-engine-1.1"),
    ),
    "A bot that enters a tournament as it comes in": ws.SignIn(
        bot="my-engine", secret="0f1e2d3c4b5a", venues=["9x9"], events=["spring-cup"]
    ),
    "A vertex": ws.Move(game=_GAME, ply=1, move="E5"),
    "A pass": ws.Move(game=_GAME, ply=3, move="pass"),
    "A resignation": ws.Move(game=_GAME, ply=3, move="resign"),
    "With analysis": ws.Move(
        game=_GAME,
        ply=1,
        move="E5",
        analysis=msgspec.Raw(b'{"winrate":0.52,"visits":800,"moves":[{"move":"E5","pv":"E5 C5"}]}'),
    ),
    "After `over`": ws.Seen(_GAME),
    "After an error `gap`": ws.Sync([_KNOWN]),
    "After `pause`": ws.Ready(),
    "Before an update of the engine": ws.Pause(),
    "Before leaving for good": ws.Drain(),
    "Other hours": ws.SetLimits(ws.OwnerLimits(hours="22-6")),
    "It plays in everybody's questions": ws.SetLimits(ws.OwnerLimits(accepts=["*"])),
    "Now, or after any sign-in": ws.EnterEvent("spring-cup"),
    "It cannot come": ws.WithdrawEvent("spring-cup"),
    "After an `event` that says `check_in`": ws.CheckInEvent("spring-cup"),
    "Is it stronger than the version before?": ws.Ask(
        kind="test", venue="9x9", against=["my-engine-1.1"], lower=0.0, upper=20.0, ref="nightly"
    ),
    "Where does it stand?": ws.Ask(kind="gauntlet", venue="9x9", against=["GNUGo-L0", "GNUGo-L5"], within=50.0),
    "What would a hundred games against whoever accepts cost?": ws.Ask(
        kind="challenge", venue="9x9", most_games=100, dry=True
    ),
    "It is asked no more": ws.StopQuestion(question=QuestionId(3)),
    "Without a sign-in": ws.WatchVenue("9x9"),
    "From its beginning": ws.WatchGame("9x9", _GAME),
    "One game": ws.Unwatch("9x9", _GAME),
    "The venue's facts": ws.Unwatch("9x9"),
    "The first message": ws.Welcome(
        server="Our club",
        software="cgos-server 0.2",
        protocol=ws.VERSION,
        at=1_767_225_600.0,
        venues=[ws.VenueInfo(name="9x9", rules=_RULES, time=_TIME, cgos_port=6809)],
        incarnation="3fa9c01b",
    ),
    "The bot is in": ws.SignedIn("my-engine", ["9x9"], 1),
    "A new game": _NEW_GAME,
    "A game of an event": msgspec.structs.replace(
        _NEW_GAME, why="Round 3 of spring-cup: both have 2 points.", event="spring-cup", round=3
    ),
    "A game that is played for a question": msgspec.structs.replace(
        _NEW_GAME, why="Question 3, a test: pair 1.", question=3
    ),
    "A game that goes on after a cut, from the last ply that the client knew": msgspec.structs.replace(
        _NEW_GAME,
        from_ply=2,
        moves=[ws.Ply("D4", 297_000), ws.Ply("PASS", 299_700)],
        black_ms=297_000,
        white_ms=299_700,
        why="",
    ),
    "The first move": ws.Turn(game=_GAME, ply=1, color="black", black_ms=300_000, white_ms=300_000),
    "The bot is to move": _OPPONENT_MOVED,
    "A pass that ends the game": msgspec.structs.replace(
        _OPPONENT_MOVED, ply=4, move="PASS", at=1_767_225_620.1, your_turn=False
    ),
    "By score": ws.Over(
        game=_GAME,
        result="W+6.0",
        winner="white",
        reason="score",
        detail="",
        plies=5,
        date="2026-01-01",
        rating=ws.RatingMove(before=1800.0, after=1792.5, plus_minus=41.0, lower=1751.5, upper=1833.5),
    ),
    "By the server's fault: no result": ws.Over(
        game=_GAME,
        result="Void",
        winner=None,
        reason="void",
        detail="The server was away for too long.",
        plies=5,
        date="2026-01-01",
    ),
    "The bot has entered": ws.EventTold(
        event="spring-cup",
        venue="9x9",
        what=EventWhat.ENTERED.value,
        text="You have entered spring-cup: it starts at 2026-01-01 18:00 UTC.",
    ),
    "It is to say that it is there": ws.EventTold(
        event="spring-cup",
        venue="9x9",
        what=EventWhat.CHECK_IN.value,
        text="spring-cup starts at 2026-01-01 18:00 UTC. Check in before: who does not is out.",
        until=1_767_290_400.0,
    ),
    "It meets somebody": ws.EventTold(
        event="spring-cup",
        venue="9x9",
        what=EventWhat.PAIRED.value,
        text="Round 3 of spring-cup: you play GNUGo-L0 as Black.",
        round=3,
        opponent="GNUGo-L0",
        color="black",
    ),
    "The event is over": ws.EventTold(
        event="spring-cup",
        venue="9x9",
        what=EventWhat.ENDED.value,
        text="spring-cup is over: your place is 2 of 14.",
        place=2,
        entrants=14,
    ),
    "Another one of its series is announced": ws.EventTold(
        event="weekly-7",
        venue="9x9",
        what=EventWhat.FOLLOWED.value,
        text="weekly-7 is followed by weekly-8.",
        series="weekly",
        next="weekly-8",
    ),
    "It is asked": ws.Asked(
        question=3,
        venue="9x9",
        kind="test",
        text="Question 3: Is my-engine-1.2 stronger than my-engine-1.1? A sequential test between 0 and 20 normalized "
        "Elo, with error rates of 5 % and 5 %, of 20000 unrated games at most.",
        costs=[
            ws.QuestionCost(case="at the lower bound", difference=0.0, games=4_280.0, hours=42.8, accepted=0.05),
            ws.QuestionCost(case="at the upper bound", difference=19.4, games=4_280.0, hours=42.8, accepted=0.95),
        ],
        ref="nightly",
    ),
    "Its games begin": ws.QuestionTold(
        question=QuestionId(3),
        venue="9x9",
        kind="test",
        state="open",
        text="Question 3: Is my-engine-1.2 stronger than my-engine-1.1? It is open.",
        version="my-engine-1.2",
        against=["my-engine-1.1"],
        wins=0,
        draws=0,
        losses=0,
        counts=[0, 0, 0, 0, 0],
        llr=0.0,
        elo=None,
        lower=None,
        upper=None,
    ),
    "It has its answer": ws.QuestionTold(
        question=QuestionId(3),
        venue="9x9",
        kind="test",
        state="accepted",
        text="Question 3: Is my-engine-1.2 stronger than my-engine-1.1? Accepted: The "
        "log-likelihood ratio reached its bound.",
        version="my-engine-1.2",
        against=["my-engine-1.1"],
        wins=640,
        draws=0,
        losses=560,
        counts=[90, 0, 380, 0, 130],
        llr=2.96,
        elo=23.2,
        lower=3.9,
        upper=43.0,
    ),
    "To people": ws.Info("You get no new game: the operator paused this venue.", "9x9"),
    "The connection stays": ws.Error(
        code="gap", text="Ply 5 was sent, and 3 is the next one. Send sync to hear what you missed.", game=_GAME
    ),
    "The connection closes; come back later": ws.Error(
        code="busy", text="Too many sign in at once: try again in half a minute.", fatal=True, retry_after_s=30.0
    ),
    "What was wanted of an event cannot be": ws.Error(
        code=Code.EVENT_CLOSED,
        text="my-engine cannot enter: Entry to spring-cup is closed.",
        event="spring-cup",
    ),
    "What was asked cannot be": ws.Error(
        code=Code.NOT_AGREED,
        text="GNUGo-L0 does not belong to you and has not agreed.",
        ref="nightly",
    ),
    "After a pong": ws.Latency(12.4),
    "After the last game": ws.Drained(),
    "One running game": ws.Picture(
        "9x9", [ws.GameLine(game=_GAME, started_at=1_767_225_600.0, size=9, komi=7.0, black=_BLACK, white=_WHITE)]
    ),
    "A move": ws.FactTold(facts.MovePlayed(venue="9x9", game=_GAME, ply=1, move="E5", left_ms=302_000)),
    "A game's end": ws.FactTold(
        facts.GameEnded(venue="9x9", game=_GAME, result="W+6.0", reason="score", at=1_767_225_700.0)
    ),
    "A running game": ws.Shown(
        game=_GAME,
        venue="9x9",
        rules=_RULES,
        time=_TIME,
        black=_BLACK,
        white=_WHITE,
        started_at=1_767_225_600.0,
        from_ply=0,
        moves=[ws.Ply("E5", 302_000)],
    ),
}
"""By when it is said. Those of one kind stand together, the plainest first."""


def examples_of(kind: type[msgspec.Struct]) -> dict[str, ws.ClientMessage | ws.ServerMessage]:
    """The examples of one kind of message, by when it is said."""
    return {when: message for when, message in EXAMPLES.items() if type(message) is kind}
