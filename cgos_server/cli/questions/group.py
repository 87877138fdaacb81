"""`cgos-server ask` and `cgos-server question`.

Must not know: how questions go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import click

from cgos_protocol.api import questions as api
from cgos_protocol.api.questions import AskedQuestion
from cgos_protocol.errors import Code, Invalid
from cgos_protocol.ids import QuestionId
from cgos_server.cli.commands.answers import show
from cgos_server.cli.commands.declared import Conduct, add_declared
from cgos_server.cli.common import Setup, configured, game_number, json_option, venue_option
from cgos_server.cli.output import print_json, print_list, print_table, say, when
from cgos_server.cli.questions.elsewhere import Elsewhere
from cgos_server.cli.questions.sources import Place, opened
from cgos_server.cli.questions.waiting import failing, wait_and_show
from cgos_server.core.questions.asked import State
from cgos_server.presentation.questions.paste import with_interval
from cgos_server.presentation.questions.reading import Wanted
from cgos_server.presentation.words import likelihood
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.surfaces import CommandLine

SERVER: Final = (
    click.option(
        "--server",
        metavar="URL",
        help="Ask the server whose pages are at URL over its API, not the one of this machine's data directory.",
    ),
    click.option(
        "--token-file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="File whose first line is a token of that API; without it the environment variable CGOS_TOKEN.",
    ),
)
"""Options of every command about questions."""

WAIT: Final = click.option(
    "--wait",
    is_flag=True,
    help="Wait until it has ended: exit code 0 where it is accepted or answered, 1 rejected, 3 not answered or "
    "stopped, 2 where it could not be asked.",
)


def place_of(setup: Setup, more: Mapping[str, Any]) -> Place:
    """Where a command asks. Raises Refused where the address or the file with the token cannot be used.

    :param more: what was given of the options `SERVER`
    """
    address: str | None = more["server"]
    if address is None:
        if more["token_file"] is not None:
            raise click.UsageError("--token-file is for a server elsewhere: give --server, too.")
        return Place(setup, None)
    return Place(setup, Elsewhere(address, _token(more["token_file"])))


class QuestionConduct(Conduct):
    """Of `cgos-server question`."""

    options: tuple[Callable[[Any], Any], ...] = SERVER

    def venue(self, setup: Setup, named: str | None, more: Mapping[str, Any]) -> str:
        elsewhere = place_of(setup, more).elsewhere
        return super().venue(setup, named, more) if elsewhere is None else elsewhere.venue(named)

    def perform(self, setup: Setup, command: Command[Any], line: CommandLine, more: Mapping[str, Any]) -> Any:
        elsewhere = place_of(setup, more).elsewhere
        return super().perform(setup, command, line, more) if elsewhere is None else elsewhere.perform(command)


class AskConduct(QuestionConduct):
    """Of `cgos-server ask`, which may wait."""

    options = (WAIT, *SERVER)

    def run(self, setup: Setup, line: CommandLine, made: Callable[[], Command[Any]], more: Mapping[str, Any]) -> None:
        with failing() if more["wait"] else nullcontext():
            command = made()
            if not more["wait"]:
                super().run(setup, line, lambda: command, more)
                return
            if getattr(command, "dry", False):
                raise click.UsageError("Nothing is asked with --dry, so that there is nothing to wait for.")
            answer: AskedQuestion = self.perform(setup, command, line, more)
        assert answer.question is not None
        show(command, answer, aside=True)
        wait_and_show(place_of(setup, more), answer.question, as_json=more["as_json"])


def _token(file: Path | None) -> str | None:
    """Of the file, or of the environment; never an argument, which others on the machine see. Raises Invalid."""
    if file is None:
        return os.environ.get("CGOS_TOKEN") or None
    try:
        first = file.read_text("utf-8").splitlines()[:1]
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(Code.PASSWORD_FILE, f"{file} cannot be read: its first line is to be a token.") from error
    if not first or not first[0].strip():
        raise Invalid(Code.NO_PASSWORD, f"There is no token in {file}: its first line is empty.")
    return first[0].strip()


_MOST: Final = 200


@click.group()
def ask() -> None:
    """Ask by games: is a version stronger, where does it stand?"""


@click.group()
def question() -> None:
    """What was asked by games, and what becomes of it."""


def _reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of where to ask."""
    for decorate in reversed(SERVER):
        command = decorate(command)
    return command


_number = click.argument("question", metavar="QUESTION", type=game_number)


@click.command("list")
@venue_option
@click.option("--owner", metavar="NAME", help="Only those that this account asks.")
@click.option("--bot", metavar="NAME", help="Only those about this bot or version, or with it for a named opponent.")
@click.option("--state", type=click.Choice([*map(str, State)]), help="Only those that stand so.")
@click.option("--limit", type=click.IntRange(1, _MOST), default=20, show_default=True, help="At most so many.")
@click.option("--before", type=game_number, metavar="N", help="Only questions with numbers below N.")
@_reading
@json_option
@configured
def list_questions(setup: Setup, /, limit: int, before: int | None, as_json: bool, **more: Any) -> None:
    """Questions, the latest first."""
    wanted = Wanted(venue=more["venue"], owner=more["owner"], bot=more["bot"], state=more["state"])
    with opened(place_of(setup, more)) as source:
        page = source.page(wanted, limit, before)
    print_list(
        page.items,
        {
            "number": lambda row: row.question,
            "kind": lambda row: row.kind,
            "venue": lambda row: row.venue,
            "asks": lambda row: row.asks,
            "owner": lambda row: row.owner,
            "asked (UTC)": lambda row: when(row.asked_at),
            "state": lambda row: row.state,
            "priority": lambda row: row.priority,
        },
        as_json=as_json,
    )


@click.command("show")
@_number
@click.option("--text", is_flag=True, help="Print six lines to paste into a pull request, and nothing else.")
@_reading
@json_option
@configured
def show_question(setup: Setup, /, question: QuestionId, text: bool, as_json: bool, **more: Any) -> None:
    """What QUESTION asks, how it stands, and what its games say."""
    if text and as_json:
        raise click.UsageError("Give --text or --json, not both.")
    with opened(place_of(setup, more)) as source:
        detail = source.detail(question)
    if as_json:
        print_json(detail)
    elif text:
        click.echo(detail.text)
    else:
        print_table(("", f"question {detail.question}"), _rows(detail), detail.asks)
        _print_against(detail)
        say(detail.stands)


@click.command("games")
@_number
@_reading
@json_option
@configured
def question_games(setup: Setup, /, question: QuestionId, as_json: bool, **more: Any) -> None:
    """The games of QUESTION, pair by pair."""
    with opened(place_of(setup, more)) as source:
        games = source.games(question).items
    print_list(
        games,
        {
            "pair": lambda row: row.pair,
            "game": lambda row: row.game,
            "black": lambda row: row.black,
            "white": lambda row: row.white,
            "opening": lambda row: row.opening,
            "result": lambda row: row.result,
            "began (UTC)": lambda row: when(row.started_at),
            "counts": lambda row: "no, taken out" if row.taken_out else "no, repeated" if row.repeated else "yes",
        },
        as_json=as_json,
    )


@click.command("wait")
@_number
@_reading
@json_option
@configured
def wait_question(setup: Setup, /, question: QuestionId, as_json: bool, **more: Any) -> None:
    """Wait until QUESTION has ended, and print six lines to paste.

    Exit code 0 where it is accepted or answered, 1 rejected, 3 not answered or stopped, 2 where nobody knows. Whoever
    stops waiting leaves the question as it is.
    """
    wait_and_show(place_of(setup, more), question, as_json=as_json)


def _rows(detail: api.QuestionDetail) -> list[tuple[str, object]]:
    answer = detail.answer
    rows: list[tuple[str, object]] = [
        ("kind", detail.kind),
        ("venue", detail.venue),
        ("asked by", detail.owner or "an operator"),
        ("asked (UTC)", when(detail.asked_at)),
        ("state", detail.state),
        *([("why", detail.why)] if detail.why else []),
        *([("priority", detail.priority)] if detail.state == "open" else []),
        ("games at most", detail.most_games),
        ("rated", "yes" if detail.rated else "no"),
    ]
    if detail.kind == "test":
        rows += [
            ("bounds", f"{detail.lower:g} and {detail.upper:g} {detail.scale}"),
            ("error rates", f"alpha {detail.alpha:g}, beta {detail.beta:g}"),
        ]
    if answer.llr is not None and answer.llr_lower is not None and answer.llr_upper is not None:
        rows.append(("LLR", f"{answer.llr:.2f}, between {answer.llr_lower:.2f} and {answer.llr_upper:.2f}"))
    if detail.within is not None:
        rows.append(("within", f"{detail.within:g} Elo"))
    if answer.wins + answer.draws + answer.losses:
        rows += _of_games(answer)
    if answer.games_left is not None:
        hours = "" if answer.hours_left is None else f", {answer.hours_left:.1f} hours"
        rows.append(("expected", f"{answer.games_left:.0f} games more{hours}"))
    if detail.waits:
        rows.append(("waits", detail.waits))
    if detail.running:
        rows.append(("running games", detail.running))
    if detail.superiority is not None:
        rows.append(
            ("stronger", f"{likelihood(detail.superiority, 1)} %, Bayesian, with the ladder: it decides nothing")
        )
    return rows


def _of_games(answer: api.QuestionAnswer) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [
        ("games", f"won {answer.wins}, drew {answer.draws}, lost {answer.losses}"),
        ("pairs", f"[{', '.join(map(str, answer.counts))}]"),
        ("Elo", with_interval(answer.elo, answer.lower, answer.upper, " (95 %)")),
    ]
    if answer.normalized is not None:
        nelo = with_interval(answer.normalized, answer.normalized_lower, answer.normalized_upper)
        rows.append(("normalized Elo", f"{nelo} (95 %)"))
    if answer.repeated:
        rows.append(("repeated pairs", f"{answer.repeated}, which count for nothing"))
    for word, (own, others) in sorted(answer.faults.items()):
        rows.append((f"by {word}", f"{own} lost, {others} won"))
    return rows


def _print_against(detail: api.QuestionDetail) -> None:
    if not detail.answer.against:
        return
    click.echo()
    print_table(
        ("opponent", "rating", "wins", "draws", "losses", "stronger %"),
        [
            (
                row.opponent,
                None if row.rating is None else f"{row.rating:.0f}",
                row.wins,
                row.draws,
                row.losses,
                None if row.superiority is None else likelihood(row.superiority),
            )
            for row in detail.answer.against
        ],
    )


for command in (list_questions, show_question, question_games, wait_question):
    question.add_command(command)
add_declared(ask, AskConduct())
add_declared(question, QuestionConduct())
