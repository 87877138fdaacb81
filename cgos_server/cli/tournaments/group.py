"""`cgos-server tournament`: the next round of a tournament kept in a file, its standings, and whether it was paired so.

No server is needed, and nothing but the file named for output is written. Must not know: how any system pairs, how a
file is laid out.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from cgos_protocol.errors import Code, Forbidden, Invalid, NotFound
from cgos_protocol.options import Choice, Number, Option
from cgos_server.cli.common import json_option
from cgos_server.cli.files import overwrite_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.progress import progress_bar, working
from cgos_server.cli.tournaments.change import change
from cgos_server.cli.tournaments.event_files import (
    EventChoice,
    event_options,
    kind_of,
    player,
    require_one_output,
    save,
    shown_game,
)
from cgos_server.cli.tournaments.moved import moved
from cgos_server.cli.tournaments.quality import quality
from cgos_server.cli.tournaments.results import results
from cgos_server.cli.tournaments.tables import print_crosstable, print_standings, write_picture
from cgos_server.tournaments import tournament as pure
from cgos_server.tournaments.amending import amend, described
from cgos_server.tournaments.base import Event, OptionValue, Round
from cgos_server.tournaments.event import begin, game_between, game_by_id, open_games
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.recheck import Recheck, recheck
from cgos_server.tournaments.registry import SHORT, options_of
from cgos_server.tournaments.registry import systems as known_systems
from cgos_server.tournaments.scores import RESULTS, result_words, score_of
from cgos_server.tournaments.standings.crosstable import crosstable as make_crosstable

_SHOWN: Final = 10
"""Open games that a refusal lists."""

_WORDS: Final = 8
"""Words that an option may be, in a table."""

output_option = click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the event there; .trf, .csv, .h9 or .json says how; with FILE's own ending, or none: as FILE.",
)


@click.group()
def tournament() -> None:
    """Pair and examine tournaments kept in files.

    FILE is a TRF16 file of another program, a CSV table, an event of ours in JSON, an H9 table of the European Go
    Federation or an XML file of OpenGotha; - is standard input.
    """


tournament.add_command(change)
tournament.add_command(quality)
tournament.add_command(results)
tournament.add_command(moved("simulate", "cgos-server lab swiss"))
tournament.add_command(moved("reproduce", "cgos-server lab swiss"))


@tournament.command("next")
@event_options
@click.option("--ready", is_flag=True, help="All games that could begin now, while others may still be played.")
@output_option
@overwrite_option
@json_option
def next_(chosen: EventChoice, ready: bool, output: Path | None, overwrite: bool, as_json: bool) -> None:
    """Pair the next round, with the reasons.

    Nothing is written unless --output names a file, which may be FILE itself: it then has the round, without results.
    With --output - the event alone goes to standard output.
    """
    file, event = chosen.open()
    if file.hindrances:
        raise Forbidden(Code.NOT_OURS, f"{chosen.file} cannot be paired here: {file.hindrances[0]}")
    if as_json:
        require_one_output(output)
    with working(f"Pairing {len(event.entrants)} players"):
        rounds = pure.ready_games(event) if ready else (pure.next_round(event),)
    after = functools.reduce(begin, rounds, event)
    if kind_of(output or chosen.file, file) == "json":  # others do not keep the games' ids
        begun = {each.number: after.rounds[each.number - 1].games for each in rounds}
        rounds = tuple(
            msgspec.structs.replace(each, games=begun[each.number][len(begun[each.number]) - len(each.games) :])
            for each in rounds
        )
    if output is not None:
        save(output, file, after, beside_json=as_json, overwrite=overwrite)
    if as_json:
        print_json([_for_programs(event, each) for each in rounds] if ready else _for_programs(event, rounds[0]))
    elif str(output) != "-":
        for each in rounds:
            _print_round(event, each)
    if not rounds:
        say("Nothing can begin now.")


@tournament.command(context_settings={"ignore_unknown_options": True})  # -/+ is a score
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("words", nargs=-1, required=True, metavar="[WHITE BLACK] SCORE")
@click.option("--game", "id_", type=click.IntRange(1), metavar="ID", help="The game with this id; may change a result.")
@click.option("--round", "number", type=click.IntRange(1), help="Of this round; may change a result.")
@click.option("--take-back", is_flag=True, help="Also games with results that the result before led to.")
@output_option
@overwrite_option
@json_option
def result(
    file: Path,
    words: Sequence[str],
    id_: int | None,
    number: int | None,
    take_back: bool,
    output: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Enter the result of a game into FILE.

    WHITE and BLACK are numbers or names of players; --game names the game instead, by its id, which `games` lists.
    SCORE is 1-0, 0-1, 1/2-1/2 or 0-0, White's points first; +/-, -/+ or -/- where the game was never started; void
    where it counts for nothing and is to be played again, no-contest where it counts for nothing for good.
    """
    *players, score = words
    if score not in RESULTS:
        raise click.BadParameter(f"{score!r} is not one of {', '.join(RESULTS)}.", param_hint="SCORE")
    if len(players) != (2 if id_ is None else 0):
        raise click.UsageError("Name the game: by White and Black, or by --game alone.")
    opened, event = EventChoice(file).open(needs_system=False)
    if id_ is None:
        white, black = (player(event, word) for word in players)
        id_ = _game_between(event, white, black, number)
    try:
        amended = amend(event, id_, RESULTS[score], take_back)
    except Invalid as refusal:
        if refusal.code is not Code.RESULT_DEPENDS:
            raise
        raise Invalid(Code.RESULT_DEPENDS, f"{refusal.sentence} (--take-back)") from refusal
    saved = save(output or file, opened, amended.event, beside_json=as_json, overwrite=overwrite)
    for placed in amended.taken_back:
        say(f"Taken back, since the result led to it: {described(event, placed)}. `next` pairs what follows now.")
    if as_json:
        print_json(
            {
                "saved": saved,
                "games": [shown_game(amended.event, game_by_id(amended.event, id_))],
                "taken_back": [shown_game(event, placed) for placed in amended.taken_back],
            }
        )


@tournament.command("games")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--open", "only_open", is_flag=True, help="Only those without a result.")
@json_option
def games_(file: Path, only_open: bool, as_json: bool) -> None:
    """The games with their ids, by which `result --game` names them.

    Only JSON keeps ids: in other files games are counted anew each time, by rounds and players.
    """
    _, event = EventChoice(file).open(needs_system=False)
    names = event.names
    games = [(number, game) for number, game in event.games if game.result is None or not only_open]
    if as_json:
        keys = ("id", "round", "white", "black", "result")
        values = [(game.id, at, names[game.white], names[game.black], score_of(game.result)) for at, game in games]
        print_json([dict(zip(keys, row, strict=True)) for row in values])
        return
    rows = [
        (game.id, number, names[game.black], names[game.white], game.result and result_words(game.result))
        for number, game in games
    ]
    print_table(("id", "round", "black", "white", "result"), rows, event.name)


@tournament.command()
@event_options
@json_option
def check(chosen: EventChoice, as_json: bool) -> None:
    """Would the system have paired every round so?

    Exits with 1 where something differs. Who was absent in a round is taken to have asked for that.
    """
    _, event = chosen.open()
    rounds: list[Recheck] = []
    with progress_bar("Rounds") as progress:
        for each in recheck(event):
            rounds.append(each)
            progress(len(rounds), len(event.rounds))
    if as_json:
        print_json(rounds)
    elif not rounds:
        say("Nothing has been paired yet.")
    else:
        _print_findings(event, rounds)
    if not all(each.agrees for each in rounds):
        sys.exit(1)


@tournament.command()
@event_options
@click.option("--order", metavar="WORDS", help="Points and tie-breakers in order, with commas between.")
@json_option
def standings(chosen: EventChoice, order: str | None, as_json: bool) -> None:
    """Who stands where, by points and tie-breakers in the stated order."""
    _, event = chosen.open(needs_system=False)
    if order is not None:
        event = msgspec.structs.replace(event, tie_breakers=tuple(word.strip() for word in order.split(",")))
    table = pure.standings(event)
    if as_json:
        print_json(table)
    else:
        print_standings(table, event.name)


@tournament.command()
@event_options
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a picture instead; of a knock-out, its bracket.",
)
@json_option
def crosstable(chosen: EventChoice, svg: Path | None, as_json: bool) -> None:
    """Who met whom in which round, with which result.

    A cell such as 12+w is a win with White against number 12; = is a draw, - a loss. Where everybody has met everybody
    there is a column for each opponent instead of each round.
    """
    _, event = chosen.open(needs_system=False)
    table = make_crosstable(event, pure.standings(event))
    if as_json:
        require_one_output(svg)
    if svg is not None:
        write_picture(event, table, svg)
    if as_json:
        print_json(table)
    elif svg is None:
        print_crosstable(table, event.name)


@tournament.command()
@event_options
@click.argument("target", type=click.Path(path_type=Path))
@overwrite_option
@json_option
def convert(chosen: EventChoice, target: Path, overwrite: bool, as_json: bool) -> None:
    """Write the event of FILE as another file.

    The ending of TARGET says how: .trf, .csv, .h9 or .json. What it cannot hold is said.
    """
    file, event = chosen.open(needs_system=False)
    saved = save(target, file, event, beside_json=as_json, overwrite=overwrite)
    if as_json:
        print_json({"saved": saved})


@tournament.command()
@json_option
def systems(as_json: bool) -> None:
    """The systems there are, with their options."""
    every = {word: options_of(word) for word in known_systems().usable}
    if as_json:
        described = {
            word: {
                key: {"values": _possible(option), "default": option.default, "meaning": option.meaning}
                for key, option in options.items()
            }
            for word, options in every.items()
        }
        whole = {word: {"system": full, "options": dict(given)} for word, (full, given) in SHORT.items()}
        about = {word: known_systems().find(word).about for word in every}
        print_json({"systems": described, "short": whole, "about": about})
        return
    rows: list[tuple[object, ...]] = []
    for word, options in every.items():
        rows += [(word, key, _text(option.default), _possible(option, _WORDS)) for key, option in options.items()]
    print_table(("system", "option", "default", "values"), rows)
    print_table(
        ("short for", "system", "options"),
        [
            (word, full, " ".join(f"{key}={_text(value)}" for key, value in given.items()))
            for word, (full, given) in SHORT.items()
        ],
    )


def _game_between(event: Event, white: int, black: int, number: int | None) -> int:
    """The id of the game of these two; without a round only one that has no result. Raises Refused."""
    try:
        return game_between(event, white, black, number, is_open=number is None).game.id
    except NotFound as refusal:
        if refusal.code is not Code.NO_GAME:
            raise
        raise NotFound(Code.NO_GAME, f"{refusal.sentence} {_hint(event, white, black)}") from refusal


def _hint(event: Event, white: int, black: int) -> str:
    """What there is instead of a game of these two that has no result."""
    names = event.names
    theirs = [(number, game) for number, game in event.games if {game.white, game.black} == {white, black}]
    for number, game in reversed(theirs):
        if game.white != white:
            return f"In round {number} {names[game.white]} has White: name White first."
        if game.result is not None:
            return f"--game {game.id} changes the result of their game there."
    left = [f"{names[game.black]} (Black) - {names[game.white]} (White)" for _, game in open_games(event)]
    shown = ", ".join(left[:_SHOWN]) + ("..." if len(left) > _SHOWN else "")
    return f"Games without a result: {shown}." if left else "No game is without a result."


def _for_programs(event: Event, round_: Round) -> dict[str, Any]:
    """A round for programs, with the players' names."""
    names = event.names
    values: dict[str, Any] = msgspec.to_builtins(round_)
    values["games"] = [
        {
            "id": game.id or None,
            "white": game.white,
            "white_name": names[game.white],
            "black": game.black,
            "black_name": names[game.black],
            "handicap": game.handicap,
            "reason": game.reason,
        }
        for game in round_.games
    ]
    values["byes"] = [
        {"entrant": bye.entrant, "name": names[bye.entrant], "points": bye.points / 2, "requested": bye.requested}
        for bye in round_.byes
    ]
    return values | {"system": event.system, "options": event.options, "seed": event.seed}


def _print_round(event: Event, round_: Round) -> None:
    names = event.names
    lines = ledger(event).lines

    def one(id_: int) -> str:
        return f"{names[id_]} ({lines[id_].score / 2:g})"

    games: list[tuple[object, ...]] = [
        (at, game.id or None, one(game.black), one(game.white), game.handicap or None, game.reason)
        for at, game in enumerate(round_.games, 1)
    ]
    for bye in round_.byes:
        why = "asked for" if bye.requested else "no opponent"
        games.append((None, None, one(bye.entrant), f"bye, {bye.points / 2:g}", None, why))
    columns = ("board", "id", "black", "white", "stones", "why")
    empty = {"stones": not any(game.handicap for game in round_.games), "id": not any(game.id for game in round_.games)}
    shown = [not empty.get(column) for column in columns]
    print_table(
        list(compress(columns, shown)), [tuple(compress(row, shown)) for row in games], f"Round {round_.number}"
    )
    if round_.explanation.summary:
        say(round_.explanation.summary)


def _print_findings(event: Event, rounds: Sequence[Recheck]) -> None:
    names = event.names

    def games(pairs: Sequence[tuple[int, int]]) -> str:
        return ", ".join(f"{names[black]} - {names[white]}" for white, black in pairs)

    def byes(each: Recheck, ids: Sequence[int]) -> str:
        return "" if each.byes == each.recorded_byes else ", ".join(names[id_] for id_ in ids) or "nobody"

    print_table(
        ("round", "verdict", "the system pairs", "the record has", "other colors", "bye", "recorded bye"),
        [
            (
                each.number,
                "refused" if each.refusal else "the same" if each.agrees else "differs",
                games(each.missing),
                games(each.unexpected),
                games(each.swapped),
                byes(each, each.byes),
                byes(each, each.recorded_byes),
            )
            for each in rounds
        ],
    )
    for each in rounds:
        if each.refusal:
            say(f"Round {each.number}: {each.refusal}")


def _possible(option: Option, most: int | None = None) -> str:
    """What an option may be, in words.

    :param most: so many words are listed at most, but the last one always
    """
    if isinstance(option, Choice):
        words = option.words
        short = most is not None and len(words) > most
        return ", ".join((*words[: most and most - 1], "...", words[-1]) if short else words)
    if isinstance(option, Number):
        return f"{option.least:g} to {option.most:g}"
    return "true, false"


def _text(value: OptionValue | None) -> str | None:
    """As `--option` takes it."""
    if isinstance(value, float):
        return f"{value:g}"
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()
