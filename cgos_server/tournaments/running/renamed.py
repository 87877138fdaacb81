"""An entry of an event's log with other names: of versions that entered, and in sentences for people.

What a system reads back (numbers, words, the details of its explanations) stays, so that the log is folded into the
same event. Must not know: who is renamed, why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from cgos_server.tournaments.base import Round
from cgos_server.tournaments.running import log

_SENTENCES = ("reason", "why")


def renamed(said: log.Said, text: Callable[[str], str]) -> log.Said:
    """`said`, with `text` of each name of a version and of each sentence."""
    match said:
        case log.Announced(settings=settings):
            return replace(said, settings=replace(settings, about=text(settings.about)))
        case log.Entered(name=name):
            return replace(said, name=text(name))
        case log.Paired(round=round_):
            return replace(said, round=_round(round_, text))
        case log.Followed():
            return said  # its `why` is a word
    sentences: dict[str, Any] = {field: text(getattr(said, field)) for field in _SENTENCES if hasattr(said, field)}
    return replace(said, **sentences)


def _round(round_: Round, text: Callable[[str], str]) -> Round:
    explanation = replace(round_.explanation, summary=text(round_.explanation.summary))
    games = tuple(replace(game, reason=text(game.reason)) for game in round_.games)
    return replace(round_, games=games, explanation=explanation)
