"""The worked examples of docs/tournaments.md: a small event by every system, and what commands say of it, in the page.

Eight engines; the stronger one wins but for the upsets and draws named here. Writes docs/examples, pictures and the
console blocks of the page.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.progress import track

from benchmarks.reporting import ROOT, CommandLine

sys.path.insert(0, str(ROOT / "tests"))

from support.cli.console import refreshed, run

from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Entrant, Event, Game, Result
from cgos_server.tournaments.event import Played, apply, begin, open_games
from cgos_server.tournaments.tournament import is_over, next_round, to_json

PAGE = ROOT / "docs" / "tournaments.md"
EXAMPLES = ROOT / "docs" / "examples"

ENGINES = (
    ("Alder", 2410, "3d", "North"),
    ("Birch", 2330, "2d", "South"),
    ("Cedar", 2290, "2d", "North"),
    ("Elm", 2210, "1d", "East"),
    ("Fir", 2150, "1d", "South"),
    ("Hazel", 2080, "1k", "East"),
    ("Larch", 1990, "2k", "North"),
    ("Maple", 1930, "3k", "South"),
)
"""Name, rating, grade, author."""

UPSETS = {(1, 3), (2, 5), (4, 8), (6, 7)}
DRAWS = {(1, 2), (3, 6)}

EVENTS: Mapping[str, tuple[str, dict[str, Any], int, int]] = {
    "round-robin": ("round-robin", {}, 6, 9),
    "cup": ("cup", {"third_place": True}, 7, 9),
    "double-elimination": ("double-elimination", {}, 6, 20),
    "accelrat": ("accelrat", {}, 8, 3),
    "swiss": ("swiss", {"method": "folding"}, 8, 3),
    "mcmahon": ("mcmahon", {"floor": "3k", "bar": "2d"}, 8, 3),
    "godraw": ("godraw", {}, 8, 3),
    "epm": ("epm", {}, 8, 3),
    "weighted": ("weighted", {}, 8, 3),
    "tcec": ("tcec", {}, 7, 4),
    "mwm": ("mwm", {"order": "dutch"}, 8, 4),
    "bubble": ("bubble", {"active_size": 4, "min_matches": 5, "unpark_below": 2, "games_per_match": 1}, 8, 99),
}
"""Name of the file -> system, options, how many engines, rounds at most."""


PICTURES = ("round-robin", "cup", "mwm")
"""Events that are also drawn."""


def result(game: Game) -> Result:
    if game.pair in DRAWS:
        return DRAWN
    better_has_white = game.white < game.black
    return WHITE_WINS if better_has_white != (game.pair in UPSETS) else BLACK_WINS


def played(system: str, options: dict[str, Any], engines: int, rounds: int) -> Event:
    """The event, played to its end or for so many rounds."""
    entrants = tuple(
        Entrant(id=at, name=name, rating=float(rating), grade=grade, country=country)
        for at, (name, rating, grade, country) in enumerate(ENGINES[:engines], 1)
    )
    event = Event(system=system, entrants=entrants, name=f"{engines} engines", options=options, seed=1)
    for _ in range(rounds):
        if is_over(event):
            break
        event = begin(event, next_round(event))
        event = apply(
            event,
            [
                Played(black=game.black, white=game.white, result=result(game), round=round_number)
                for round_number, game in open_games(event)
            ],
        )
    return event


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, only=["cup"])
    parser.add_argument("--only", nargs="*", choices=EVENTS, help="play these alone, write nothing, show them (JSON)")
    options = parser.read(words)
    if options.only is not None:
        for name in options.only:
            print(to_json(played(*EVENTS[name])).decode())
        return
    EXAMPLES.mkdir(exist_ok=True)
    for name, terms in track(EVENTS.items(), "events"):
        (EXAMPLES / f"{name}.json").write_bytes(to_json(played(*terms)) + b"\n")
    for name in PICTURES:
        run(f"cgos-server tournament crosstable docs/examples/{name}.json --svg docs/images/{name}.svg", ROOT)
    PAGE.write_text(refreshed(PAGE.read_text(), ROOT, lambda command: print(command, file=sys.stderr)))


if __name__ == "__main__":
    main()
