"""All that the lab recomputes of Vuorinen (2010), in the order of its chapters, and what of it is misprinted or claimed
wrongly.

Must not know: how any of it is computed, terminals.
"""

from __future__ import annotations

from typing import Final

from cgos_protocol.errors import Code, Invalid
from cgos_server.lab.report import Column, Report, Table, joined
from cgos_server.lab.running import Work
from cgos_server.lab.thesis.errors import Fields, total_errors
from cgos_server.lab.thesis.fields import MEAN, NOISE, SPREAD
from cgos_server.lab.thesis.measures import measures
from cgos_server.lab.thesis.pairings import chapters_3_and_4
from cgos_server.lab.thesis.printed import ERRORS
from cgos_server.lab.thesis.ratings import chapter_2
from cgos_server.tournaments.standings.grades import grade_index
from cgos_server.tournaments.systems.from_starts import NO_BAR

MISPRINTS: Final = (
    (
        "2.2.2",
        "S_A and S_B as the probabilities of both results",
        "They sum to 0.984; the expected total change is only what epsilon adds, 0 without it.",
    ),
    (
        "2.2.2",
        "the largest change is 200 to 300 points up or down",
        "Against weaker opponents only, and for own ratings of some 300 to 1500: see the table of maxima.",
    ),
    ("2.4.5", "GoR's formula with epsilon 0.016 for entropies", "The table has epsilon 0: its pairs sum to 1."),
    ("table 2.2", "no rounding in the slope", "The values follow with (R - 100) div 20."),
    ("table 2.2", "F-B 0.20396 / 0.79604", "0.18546 / 0.81454: printed is what the slope of player E gives."),
    (
        "table 2.3",
        "entropies",
        "Each cell is the row player's term alone; a pair's entropy is the sum of both. F-B is wrong.",
    ),
    ("3.2", "2N players take N rounds", "2^N players: the exponent is lost."),
    ("3.2.1", "ceil(log2 N) rounds find the winner", "Then at most one is unbeaten; it takes 2N - 2 or 2N - 1 games."),
    ("table 3.2", "winners in bold", "Lost in the text that there is; who is named again has won."),
    ("table 4.1", "caption: sizes of groups", "The row has the number of groups; the sizes of fields overlap."),
    ("4.2.3", "double folding: pair(x) = N - x + 1", "That is folding; the example of 16 folds each half in itself."),
    (
        "6.1",
        "EPM asks for failure after its loop",
        "Never reached, or the stack is empty before: the server asks where it takes back a pair.",
    ),
    (
        "7.1",
        "1/(2kN) before the root removes size and double counting",
        "Only inside the root: where all are d apart it is d/(2 sqrt(kN)) as printed.",
    ),
)
"""Section or table, what stands there, what is right."""


def experiment(fields: Fields, work: Work) -> Report:
    """All of it.

    :raises Refused: where the fields cannot be
    """
    _require(fields)
    parts = (chapter_2(), chapters_3_and_4(work.seed), measures(), total_errors(fields, work))
    misprints = Table(
        key="misprints",
        title="Misprints, and claims that do not hold",
        columns=(Column(name="where"), Column(name="printed"), Column(name="right")),
        rows=MISPRINTS,
    )
    return joined((*parts, Report(tables=(misprints,), notes=_notes(fields))))


def _require(fields: Fields) -> None:
    for each, what in ((fields.sizes, "size"), (fields.rounds, "number of rounds")):
        if len(set(each)) < len(each):
            raise Invalid(Code.LAB, f"A {what} is given twice. Name each once.")
    if max(fields.rounds) >= min(fields.sizes):
        raise Invalid(
            Code.LAB,
            f"A field of {min(fields.sizes)} has no {max(fields.rounds)} rounds without rematches. Take fewer rounds, "
            "or larger fields.",
        )
    if fields.bar != NO_BAR and grade_index(fields.bar) < 0:
        raise Invalid(Code.LAB, f"A bar at {fields.bar} is under the floor of 20k. Give a higher one.")


def _notes(fields: Fields) -> tuple[str, ...]:
    least, most = ERRORS
    return (
        "The source's fields and results are not published, and its algorithm of relative strengths is lost with its "
        "appendix B: relative strengths are a reconstruction, in natural-log odds, and only orders can be compared.",
        f"Its tables 7.1 to 7.4 have errors of {least} to {most} for 27 to 712 players. That they do not fall with the "
        "field looks like the reading with the factor inside the root, on an unknown scale.",
        f"Fields are drawn: strengths normal with mean {MEAN:.0f} and standard deviation {SPREAD:.0f} GoR points, from "
        f"20 kyu to 7 dan; ratings with an error of {NOISE:.0f}; results by GoR's curve without epsilon, no draws; no "
        f"countries, no clubs; bar: {fields.bar}. AccelRat moves its ratings by GoR.",
        "Relative strengths come from the event's own results: they tell how these look. The error by true strengths, "
        "in points, is this project's addition; it can order the systems otherwise.",
    )
