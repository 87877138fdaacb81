"""`cgos-server lab ladder`: the continuous server in simulated time.

Must not know: how it is simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click

from cgos_protocol.errors import Code, Invalid
from cgos_server.cli.common import gathered, named_value
from cgos_server.cli.lab.experiment import experiment
from cgos_server.core.venue import Policy
from cgos_server.lab.ladder.experiment import Ladders, run
from cgos_server.lab.ladder.kinds import KINDS
from cgos_server.lab.ladder.players import Population
from cgos_server.lab.ladder.replicate import SERVERS, Row
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work


class Choice(NamedTuple):
    """Which rows there are.

    :ivar rows: MATCHMAKER/RATING/POLICY
    """

    servers: Sequence[str]
    rows: Sequence[str]
    matchmakers: Sequence[str]
    ratings: Sequence[str]
    policies: Sequence[str]

    def all(self) -> tuple[Row, ...]:
        """Of all options together, in this order; CGOS and this server where there is none.

        :raises Refused: where one is not written as it should be
        """
        made = [SERVERS[word] for word in self.servers] + [_row(text) for text in self.rows]
        if self.matchmakers or self.ratings or self.policies:
            ours = SERVERS["ours"]
            made += [
                _row(f"{matchmaker}/{rating}/{policy}")
                for matchmaker in self.matchmakers or [ours.matchmaker]
                for rating in self.ratings or [ours.rating]
                for policy in self.policies or [ours.policy.value]
            ]
        return tuple(made or SERVERS.values())


def _row(text: str) -> Row:
    parts = text.rsplit("/", 2)
    if len(parts) < 3 or parts[2] not in list(Policy):
        raise Invalid(
            Code.LAB,
            f"{text!r} is not MATCHMAKER/RATING/POLICY, such as information/bayes/rolling or "
            "permuted,window=300/cgos-elo,compat=true/barrier.",
        )
    (matchmaker, matchmaker_options), (rating, rating_options) = map(_with_options, parts[:2])
    return Row(
        label=text,
        matchmaker=matchmaker,
        rating=rating,
        policy=Policy(parts[2]),
        matchmaker_options=matchmaker_options,
        rating_options=rating_options,
    )


def _with_options(text: str) -> tuple[str, dict[str, bool | int | float | str]]:
    """``birk,formula=half`` as a word and its options."""
    word, *options = text.split(",")
    for option in options:
        if "=" not in option[1:]:
            raise Invalid(Code.LAB, f"{option!r} in {text!r} is not NAME=VALUE, such as {word},NAME=VALUE.")
    return word, dict(map(named_value, options))


class Pool(NamedTuple):
    """How each pool is drawn; see :class:`Population`."""

    versions: int
    hours: float
    fastest: float
    spread: float
    owners: str
    families: str
    arrivals: float
    departures: float

    def population(self) -> Population:
        """Raises Refused where numbers of versions are not written as they should be."""
        sizes = {"owners": _sizes("--owners", self.owners), "families": _sizes("--families", self.families)}
        return Population(**{**self._asdict(), **sizes})


def _sizes(option: str, text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")] if text else []
    if not all(word.isdecimal() and int(word) for word in words):
        raise Invalid(Code.LAB, f"{option} is to be numbers of versions with commas between them, such as 7,2.")
    return tuple(map(int, words))


_a_day = click.FloatRange(0.0, 1e6)
_seconds = click.FloatRange(0.0, 1e5)


@click.command(short_help="Days of a server in simulated time.")
@click.option(
    "--pool",
    "pools",
    type=click.Choice(list(KINDS)),
    multiple=True,
    default=["normal"],
    show_default=True,
    help="Where true strengths come from; may be repeated.",
)
@click.option(
    "--server",
    "servers",
    type=click.Choice(list(SERVERS)),
    multiple=True,
    help="What a server does by default: CGOS, or this one; may be repeated. Both, where no row is asked for.",
)
@click.option(
    "--row",
    "rows",
    metavar="MATCHMAKER/RATING/POLICY",
    multiple=True,
    help="Another row, such as information/bayes/rolling, with options as in birk,formula=half/glicko2/barrier. The "
    "rating is a rating system, `known` (all strengths are, to 40 Elo; for play alone) or `told` (the oracle). May be "
    "repeated.",
)
@click.option(
    "--matchmaker",
    "matchmakers",
    metavar="MATCHMAKER",
    multiple=True,
    help="As in --row; may be repeated. There is a row for each of them with each --rating and each --policy.",
)
@click.option("--rating", "ratings", metavar="RATING", multiple=True, help="As in --row; may be repeated.")
@click.option(
    "--policy",
    "policies",
    type=click.Choice([policy.value for policy in Policy]),
    multiple=True,
    help="As in --row; may be repeated.",
)
@click.option(
    "--versions", type=click.IntRange(2, 10_000), default=64, show_default=True, help="In each pool at the beginning."
)
@click.option(
    "--hours", type=click.FloatRange(0.01, 1e5), default=24.0, show_default=True, help="How long each ladder goes on."
)
@click.option(
    "--replicates", type=click.IntRange(1, 100_000), default=4, show_default=True, help="Of each row in each pool."
)
@click.option(
    "--until",
    type=click.FloatRange(0.0, 1e4),
    default=0.0,
    show_default=True,
    help="A replicate ends before its hours where the RMSE of its ratings is so many Elo or less.",
)
@click.option(
    "--fastest",
    type=click.FloatRange(0.01, 1e5),
    default=12.0,
    show_default=True,
    help="Seconds that the fastest version thinks in a game, on the average.",
)
@click.option(
    "--spread",
    type=click.FloatRange(1.0, 1e5),
    default=25.0,
    show_default=True,
    help="The slowest version thinks so many times longer; the others lie in between in even steps of the logarithm.",
)
@click.option("--owners", default="", metavar="N,N", help="How many versions each owner of several has.")
@click.option(
    "--families", default="", metavar="N,N", help="How many versions each family has, in place of the pool's own."
)
@click.option(
    "--arrivals", type=_a_day, default=0.0, show_default=True, help="Versions that join in a day, on the average."
)
@click.option(
    "--departures", type=_a_day, default=0.0, show_default=True, help="Versions that leave in a day, on the average."
)
@click.option(
    "--interval",
    type=click.FloatRange(0.01, 1e5),
    default=1.0,
    show_default=True,
    help="Seconds between two pairing passes; with --server cgos 15.",
)
@click.option(
    "--settle",
    type=_seconds,
    default=0.5,
    show_default=True,
    help="Seconds from a game's end until its versions are ready again.",
)
@experiment("ladders")
@gathered(Pool)
@gathered(Choice)
def ladder(
    choice: Choice,
    pool: Pool,
    work: Work,
    pools: tuple[str, ...],
    replicates: int,
    until: float,
    interval: float,
    settle: float,
) -> Report:
    """Days of a server in simulated time: how soon ratings are true, who waits, who meets whom.

    Versions of known strengths, some of which think 25 times as long as others, are paired and rated by the very
    matchmakers and rating systems of the server, from the first game on; two of them are anchors. All rows see the same
    versions, and the same results of the games that they have in common. Beside each row stands the oracle: an
    estimator that is told the distribution of the true strengths, and rates the same games.
    """
    ladders = Ladders(
        pools=tuple(dict.fromkeys(pools)),
        rows=choice.all(),
        population=pool.population(),
        replicates=replicates,
        until=until,
        interval=interval,
        settle=settle,
    )
    return run(ladders, work)
