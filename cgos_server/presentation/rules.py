"""The rules of a venue in words: what is played, on what clocks, who meets whom, how it is rated.

Must not know: SQL, HTTP, the live server.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from cgos_protocol import intervals
from cgos_protocol.catalog import Catalog
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import Refused
from cgos_protocol.games.base import Ruleset
from cgos_protocol.games.registry import game_kind, games
from cgos_protocol.options import sentence
from cgos_server.config.pairing import PairingConfig
from cgos_server.core.rating.base import Rating
from cgos_server.core.rating.registry import options_in_force, systems
from cgos_server.presentation import words
from cgos_server.presentation.settings import VenueSettings


class Rule(NamedTuple):
    """A rule with its heading."""

    name: str
    sentence: str


class OptionLine(NamedTuple):
    """An option of the matchmaker in force."""

    name: str
    value: str
    own: bool
    meaning: str


def sections(
    rules: Ruleset, time: TimeControl, venue: VenueSettings, newcomer: Rating | None = None
) -> list[tuple[str, list[Rule]]]:
    """Headings, each with its rules. Takes its time when first asked.

    :param newcomer: where the headline system rates a new version now; None where that is not known
    """
    return [
        ("The game", _game(rules, venue)),
        ("Time", _time(time, venue)),
        ("Who meets whom", _pairing(venue)),
        ("Rating", _rating(venue, newcomer)),
        ("Watching", [Rule("Running games", _delay(venue))]),
    ]


def clock_in_words(time: TimeControl) -> str:
    """A time control, as a sentence."""
    main = words.duration(time.main / 1e6)
    match time.system:
        case TimeSystem.ABSOLUTE:
            return f"Each side has {main} for the whole game."
        case TimeSystem.FISCHER:
            return f"Each side begins with {main} and gains {words.duration(time.increment / 1e6)} with every move."
        case TimeSystem.BYOYOMI:
            period = words.duration(time.period / 1e6)
            periods = f"{time.periods} periods of {period}: a move within a period costs none of them"
            return f"Each side has {main}, then {periods}." if time.main else f"Each side has {periods}."
        case TimeSystem.CANADIAN:
            rest = f"every {time.stones} moves have to be made within {words.duration(time.period / 1e6)}"
            return f"Each side has {main}; then {rest}." if time.main else f"{rest[:1].upper()}{rest[1:]}."
        case TimeSystem.FIXED:
            return f"Each move has to be made within {words.duration(time.period / 1e6)}."


def pairing_options(method: str, own: dict[str, Any]) -> list[OptionLine]:
    """All options that a matchmaker has in force, with their meaning. Takes its time when first asked."""
    from cgos_server.core.pairing.registry import matchmaker, matchmakers  # with numpy, which pages do not need before

    meanings = {field.name: sentence(field.type) for field in msgspec.structs.fields(PairingConfig)}
    try:
        in_force = matchmaker(method, own).options
        if matchmakers().origin(method):
            meanings |= {key: option.meaning for key, option in matchmakers().find(method).options.items()}
    except Refused:
        in_force = own
    return [
        OptionLine(key, _said(value), key in own, (meanings.get(key) or "").replace("`", ""))
        for key, value in in_force.items()
    ]


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _game(rules: Ruleset, venue: VenueSettings) -> list[Rule]:
    lines = [
        *_of_another_game(rules),
        Rule("Board", f"{rules.size}×{rules.size}"),
        Rule(
            "Komi", f"{words.komi(rules.komi2)} points for White" + (", draws happen" if rules.komi2 % 2 == 0 else "")
        ),
        *(Rule(heading, sentences) for heading, sentences in _game_in_words(rules)),
        Rule("Illegal moves", "An illegal move loses the game at once."),
    ]
    if venue.move_limit:
        lines.append(
            Rule("Longest game", f"After {venue.move_limit} moves, passes included, the board is scored as it stands.")
        )
    if venue.openings:
        share = f"{100 * venue.openings_share:.0f} %"
        lines.append(
            Rule(
                "Openings",
                f"{share} of new pairs begin with one of {venue.openings} openings and play it twice, colors swapped.",
            )
        )
    else:
        lines.append(Rule("Openings", "None: every game begins with the empty board."))
    return lines


def _of_another_game(rules: Ruleset) -> list[Rule]:
    """What the game is, where it is not Go."""
    if rules.game == "go":
        return []
    return [Rule("Game", _known(games(), rules.game, rules.game, "."))]


def _game_in_words(rules: Ruleset) -> list[tuple[str, str]]:
    try:
        return game_kind(rules.game).in_words(rules)
    except Refused as refusal:
        return [("Scoring", refusal.sentence)]


def _known(catalog: Catalog[Any], name: str, text: str, end: str) -> str:
    """`text` with what its declaration says of it, where there is one."""
    try:
        return f"{text}: {catalog.find(name).about}{end}"
    except Refused:
        return f"{text}{end}"


def _time(time: TimeControl, venue: VenueSettings) -> list[Rule]:
    lines = [Rule("Clock", f"{clock_in_words(time)} Running out of time loses the game.")]
    if venue.first_move_s:
        limit = words.duration(venue.first_move_s)
        lines.append(
            Rule("First move", f"Each side's own first move comes within {limit}, else the game is aborted, unrated.")
        )
    if venue.ready_s:
        lines.append(
            Rule(
                "Between games", f"A bot answers the end of a game within {words.duration(venue.ready_s)} to be paired."
            )
        )
    lines.append(Rule("Broken connections", "The clock runs on. Whoever signs in again in time goes on with the game."))
    if venue.void_after_s:
        lines.append(
            Rule(
                "After a restart of the server",
                f"A bot may stay away for {words.duration(venue.return_grace_s)} before its clock runs; if both stay "
                f"away for {words.duration(venue.void_after_s)} the game is void.",
            )
        )
    return lines


def _pairing(venue: VenueSettings) -> list[Rule]:
    every = words.duration(venue.interval_s)
    when = (
        "All games begin together, when the last one of the round before has ended."
        if venue.policy == "barrier"
        else f"Rolling: whoever is free is looked at every {every}, and begins as soon as a game is worth it."
    )
    from cgos_server.core.pairing.registry import matchmakers  # with numpy, which pages do not need before

    how = _known(matchmakers(), venue.method, f"By “{venue.method}”", ". Every pair is recorded with its reason.")
    lines = [Rule("When", when), Rule("How", how)]
    if venue.suspend_after:
        lines.append(
            Rule(
                "Suspended",
                f"Who spoils {venue.suspend_after} games in a row (out of time, illegal moves, away) gets no further "
                "game until it comes back by its own wish.",
            )
        )
    return lines


def _rating(venue: VenueSettings, newcomer: Rating | None) -> list[Rule]:
    if not venue.counts:
        return [Rule("Sandbox", "Results here change no rating: this venue is for trying things out.")]
    system, *views = venue.rated.systems
    start = f"{venue.rated.initial:.0f}"
    if newcomer is not None:
        start = f"the pool's mean (now {intervals.written(newcomer.mean, newcomer.lower, newcomer.upper)})"
    lines = [
        Rule("System", _known(systems(), system, system, ".")),
        Rule("Newcomers", f"A version without a predecessor begins at {start}."),
        Rule("Provisional", provisional_rule(system, venue.rated.options.get(system, {}))),
    ]
    if views:
        lines.append(Rule("Beside it", f"The same results are also rated by {', '.join(views)}; see the standings."))
    return lines


def provisional_rule(system: str, own: dict[str, Any]) -> str:
    """When a rating is provisional, as a sentence."""
    try:
        return systems().find(system).provisional_rule.format(**options_in_force(system, own))
    except Refused:
        return "A rating is provisional (?) while the system says so."


def _delay(venue: VenueSettings) -> str:
    if not venue.delay_s:
        return "Moves are shown as they are played."
    return f"Moves of running games are shown {words.duration(venue.delay_s)} after they were played."
