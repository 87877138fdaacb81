"""`cgos-server rate sprt`: a sequential test on anybody's results, without a server.

Must not know: how a file is read, how a test is computed.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from cgos_protocol.errors import Code, Refused
from cgos_protocol.lines.misread import text_of
from cgos_server.cli.common import gathered, json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.tournaments.event_files import bytes_of
from cgos_server.core.questions.wording import SCALES
from cgos_server.core.sequential import (
    Cost,
    Counts,
    Decision,
    Hypotheses,
    Scale,
    drop_vague_elo,
    estimate,
    first_decision,
    remaining,
    standing,
)
from cgos_server.presentation.questions.paste import SequentialTest, elo, six_lines, verdict, with_interval
from cgos_server.presentation.words import count, likelihood
from cgos_server.tournaments.files.games_list import FirstMover, read
from cgos_server.tournaments.files.pairs_list import GAME_CELLS, counts_in, results_of

EXITS: Final = {Decision.ACCEPTED: 0, Decision.REJECTED: 1, None: 3}
"""Exit code by what the test decided."""

_UNUSABLE: Final = 2
_BY: Final = "cgos-server rate sprt"


class _Bounds(NamedTuple):
    bounds: tuple[float, float]
    scale: str
    alpha: float
    beta: float

    def hypotheses(self) -> Hypotheses:
        """Raises Refused."""
        lower, upper = self.bounds
        return Hypotheses(scale=Scale(self.scale), lower=lower, upper=upper, alpha=self.alpha, beta=self.beta)


class _Source(NamedTuple):
    of: str | None
    against: str | None
    single: bool
    first: FirstMover | None


class _Counted(NamedTuple):
    """What a file says. `after`: pairs or games that came after the end of the test, which do not count."""

    older: str
    newer: str
    counts: Counts
    points: tuple[int, int, int] | None
    after: int = 0
    left_out: int = 0


class _Unusable(click.ClickException):
    """Refused. Exits with 2, since 1 says that the test rejects."""

    exit_code = _UNUSABLE


@click.command("sprt")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--bounds",
    type=(float, float),
    default=(0.0, 10.0),
    show_default=True,
    metavar="LOWER UPPER",
    help="The two hypotheses: B is stronger by LOWER Elo, by UPPER Elo.",
)
@click.option(
    "--scale",
    type=click.Choice([each.value for each in Scale]),
    default=Scale.NORMALIZED.value,
    show_default=True,
    help="The Elo of the bounds: nelo is normalized (by the spread of a game's points), elo logistic.",
)
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Error rate: accepted, although LOWER is true."
)
@click.option(
    "--beta", type=float, default=0.05, show_default=True, help="Error rate: rejected, although UPPER is true."
)
@click.option("--of", metavar="NAME", help="B, whose strength is asked; needed where FILE has games.")
@click.option("--against", metavar="NAME", help="A; needed where FILE has games of more than two.")
@click.option("--single", is_flag=True, help="Count every game alone, not pairs.")
@click.option(
    "--first",
    type=click.Choice(("black", "white")),
    help="The color that moves first; without it White in PGN and Black in a table.",
)
@json_option
@gathered(_Bounds)
@gathered(_Source)
def sprt(source: _Source, bounds: _Bounds, file: Path, as_json: bool) -> None:
    """Is B stronger than A? A sequential test on the results in FILE; no server and no database.

    FILE (- is standard input) is five counts, of pairs of games in which B scored 0, 1/2, 1, 3/2 and 2 points; three,
    of games that B lost, drew and won; or games: a table whose first line names columns (black, white, result), the
    headers of games in PGN, or lines such as Alder beat Birch.

    Two games are a pair where colors are swapped and they have the same opening: what a column pair, opening, fen or
    round (the first that is there) says, in PGN the tag FEN, Round or Opening. Where no two games share one, those that
    follow one another with colors swapped are a pair. Games without a partner are left out. Games after the one that
    ended the test do not count.

    Exits with 0 where the test accepts (B is stronger), 1 where it rejects, 3 where it goes on, and 2 where FILE or an
    option cannot be used.
    """
    try:
        hypotheses = bounds.hypotheses()
        counted = _counted(text_of(Code.RESULTS, bytes_of(file))[0], source, hypotheses)
    except Refused as error:
        raise _Unusable(error.sentence) from error
    tested = SequentialTest(
        older=counted.older,
        newer=counted.newer,
        hypotheses=hypotheses,
        counts=counted.counts,
        points=counted.points,
        standing=standing(counted.counts, hypotheses),
        estimate=drop_vague_elo(estimate(counted.counts, hypotheses), counted.counts.games),
    )
    needed = remaining(counted.counts, hypotheses)
    if as_json:
        print_json(_told(tested, counted, needed))
    else:
        _print(tested, counted, needed)
    sys.exit(EXITS[tested.standing.decision])


def _counted(text: str, source: _Source, hypotheses: Hypotheses) -> _Counted:
    """Raises Refused."""
    cells = counts_in(text)
    if cells is not None:
        points = (cells[2], cells[1], cells[0]) if len(cells) == GAME_CELLS else None
        return _Counted(source.against or "A", source.of or "B", Counts(cells), points)
    games = read(text, first=source.first).games
    newer, older, results = results_of(games, source.of, source.against, single=source.single)
    end = first_decision(results.cells, results.kinds, hypotheses) or len(results.cells)
    seen = Counter(results.cells[:end])
    won, drawn, lost = (sum(each) for each in zip(*results.games[:end], strict=True))
    return _Counted(
        older=older,
        newer=newer,
        counts=Counts(tuple(seen[cell] for cell in range(results.kinds))),
        points=(won, drawn, lost),
        after=len(results.cells) - end,
        left_out=results.left_out,
    )


def _told(tested: SequentialTest, counted: _Counted, needed: Cost) -> dict[str, Any]:
    """All of it as JSON."""
    return {
        "newer": tested.newer,
        "older": tested.older,
        "hypotheses": asdict(tested.hypotheses),
        "counts": tested.counts.cells,
        "games": tested.counts.games,
        "points": None if tested.points is None else dict(zip(("won", "drawn", "lost"), tested.points, strict=True)),
        "left_out": counted.left_out,
        "after_the_end": counted.after,
        "standing": asdict(tested.standing),
        "estimate": asdict(tested.estimate),
        "remaining": asdict(needed),
        "text": six_lines(tested, _BY),
    }


def _print(tested: SequentialTest, counted: _Counted, needed: Cost) -> None:
    unit = "pair" if tested.counts.paired else "game"
    now, about, hypotheses = tested.standing, tested.estimate, tested.hypotheses
    if counted.left_out:
        say(f"{count(counted.left_out, 'game')} without a partner left out. --single counts them.")
    if counted.after:
        say(f"{count(counted.after, unit)} after the one that ended the test left out.")
    print_table(
        (f"{tested.newer} against {tested.older}", verdict(now.decision)),
        [
            ("log-likelihood ratio", f"{now.llr:z.3f}, rejects at {now.reject_at:.2f}, accepts at {now.accept_at:.2f}"),
            ("hypotheses", f"{hypotheses.lower:g} and {hypotheses.upper:g} {SCALES[hypotheses.scale]} Elo"),
            ("error rates", f"alpha {hypotheses.alpha:g}, beta {hypotheses.beta:g}"),
            ("Elo", elo(about)),
            (
                "normalized Elo",
                with_interval(about.normalized, about.normalized_lower, about.normalized_upper),
            ),
            ("superior", f"{likelihood(about.superiority, 1)} %"),
            (f"{unit}s counted", " ".join(map(str, tested.counts.cells))),
            (f"{unit}s to come", f"{needed.pairs:.0f}, if it goes on like this"),
        ],
    )
    click.echo()
    click.echo(six_lines(tested, _BY))
