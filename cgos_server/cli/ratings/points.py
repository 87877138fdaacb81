"""`cgos-server rate points`: how many points of a game a lead in Elo brings, which depends on how often games are
drawn.

Must not know: the live server, how draws are learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import click

from cgos_server.cli.common import Setup, WordOf, configured, json_option, venue_option
from cgos_server.cli.output import apart, print_json, print_table, say
from cgos_server.cli.reading import read, venues_asked
from cgos_server.core.rating.base import Outcome
from cgos_server.core.rating.bayes.likelihood import draw_parameter, drawn_between_equals, probabilities
from cgos_server.core.rating.registry import systems
from cgos_server.presentation.words import likelihood
from cgos_server.storage.reading.history import History

_LEADS: Final = (0, 50, 100, 200, 300, 400, 600, 800)
"""Elo."""


class _Learned(NamedTuple):
    """What the latest refit of a system learned: Davidson's nu, and what the first move is worth, Elo."""

    venue: str
    system: str
    draw: float
    advantage: float


@click.command("points")
@click.option(
    "--draws",
    "shares",
    type=click.FloatRange(0, 0.99),
    multiple=True,
    metavar="SHARE",
    help="Instead of a venue: equals draw this share of their games, 0 to 0.99; may be repeated.",
)
@venue_option
@click.option("--system", type=WordOf(lambda: systems().names), help="Under this rating system.")
@json_option
@configured
def points(setup: Setup, shares: tuple[float, ...], venue: str | None, system: str | None, as_json: bool) -> None:
    """How many points of a game so many Elo ahead bring.

    By what the latest refit learned of a venue's draws, both colors together; or for stated shares of draws.
    """
    if shares:
        _show_stated(shares, as_json)
        return

    async def ask(history: History) -> list[_Learned]:
        return [
            _Learned(each, name, float(notes["draw"]), float(notes["advantage"]))
            for each in await venues_asked(history, venue)
            for name in ((system,) if system else systems().names)
            for latest in await history.refits.recorded(each, name, 1)
            if isinstance(notes := latest.notes, dict) and "draw" in notes
        ]

    learned = read(setup, ask)
    if as_json:
        print_json(
            [
                {
                    "venue": each.venue,
                    "system": each.system,
                    "equals_draw": drawn_between_equals(each.draw),
                    "leads": _rows(_curve(each.draw, each.advantage)),
                }
                for each in learned
            ]
        )
        return
    if not learned:
        say("No refit is recorded that could have learned how often games are drawn. --draws SHARE needs none.")
    for each in apart(learned):
        equals = 100 * drawn_between_equals(each.draw)
        print_table(
            ("Elo ahead", "points", "drawn"),
            [
                (lead, _percent(game.score), f"{100 * game.draw:.1f} %")
                for lead, game in _curve(each.draw, each.advantage).items()
            ],
            title=f"{each.venue}, {each.system}: equals draw {equals:.1f} % of their games",
        )


def _show_stated(shares: Sequence[float], as_json: bool) -> None:
    curves = [(share, _curve(draw_parameter(share), 0.0)) for share in shares]
    if as_json:
        print_json([{"equals_draw": share, "leads": _rows(curve)} for share, curve in curves])
        return
    print_table(
        ("Elo ahead", *(f"{100 * share:g} % drawn" for share in shares)),
        [(lead, *(_percent(curve[lead].score) for _, curve in curves)) for lead in _LEADS],
    )


def _curve(draw: float, advantage: float) -> dict[int, Outcome]:
    """What each lead brings, over a game with either color.

    :param draw: Davidson's nu
    :param advantage: what the first move is worth, Elo
    """
    curve = {}
    for lead in _LEADS:
        colors = probabilities([float(lead), float(-lead)], advantage, draw)
        (win, lost), (drawn, drawn_too), (loss, won) = (each.tolist() for each in colors)
        curve[lead] = Outcome((win + won) / 2, (drawn + drawn_too) / 2, (loss + lost) / 2)
    return curve


def _rows(curve: Mapping[int, Outcome]) -> list[dict[str, float]]:
    return [
        {"lead": lead, "win": game.win, "draw": game.draw, "loss": game.loss, "score": game.score}
        for lead, game in curve.items()
    ]


def _percent(share: float) -> str:
    return f"{likelihood(share, 1)} %"
