"""The options that every matchmaker has, by their words in configuration: constraints and waiting.

Here they are one flat mapping of JSON values with times in seconds, elsewhere dataclasses with whole microseconds,
whose defaults are the options'. Decides which values are possible. Must not know: methods, files of configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final

from cgos_protocol.errors import Code
from cgos_protocol.options import MICROSECONDS, Choice, Flag, Number, Option, Seconds, read
from cgos_server.core.pairing.constraints import Constraints, Kin
from cgos_server.core.pairing.rolling import Waiting


def _kin(meaning: str) -> Choice:
    return Choice(tuple(Kin), meaning=meaning)


def _bits(meaning: str) -> Number:
    return Number(0.0, 100.0, meaning=meaning)


def _count(most: int, meaning: str) -> Number:
    return Number(1, most, whole=True, meaning=meaning)


_OPTIONS: Final[Mapping[str, Choice | Flag | Number | Seconds]] = MappingProxyType(
    {
        "same_owner": _kin(
            "versions of one bot: `forbidden` never meet, `discouraged` only when a bot has waited for `patience_s`, "
            "`free`"
        ),
        "same_family": _kin("bots of one family (`cgos-server family`), likewise"),
        "avoid_last": Flag(meaning="whether a bot is kept from its last opponent until it has waited for `patience_s`"),
        "repeat_most": _count(
            1_000_000,
            "games against one opponent among the last `repeat_last`; more only after `patience_s`, or in a pool so "
            "small that twice an even share is more",
        ),
        "repeat_last": _count(1000, "how many last games are looked at"),
        "max_expected": Number(
            0.51,
            1.0,
            meaning="largest expected score of decided games until a bot has waited for `patience_s`; without the key "
            "0.95 with `information`, else none",
        ),
        "patience_s": Seconds(
            0.0,
            86_400.0,
            meaning="after so long a wait constraints give way, the largest expected score first; the others when so "
            "many other bots have become free as make waiting worth it, after 30 times as long at the latest",
        ),
        "color_cost": _bits("what a pair costs in which both are owed the same color, bits"),
        "anchor_cost": _bits("what a pair of anchors costs, bits"),
        "newcomer_cost": _bits("what a pair of provisional bots costs while there are well-known ones, bits"),
        "repeat_cost": _bits("what each recent game of the same two costs, bits"),
        "grace": _bits(
            "`rolling`: bits that a game may fall short of the best one without any waiting, divided by the number of "
            "other bots there are: the less, the choosier are bots"
        ),
        "ease": Number(0.001, 1000.0, meaning="`rolling`: after how many mean games of waiting it may be one bit more"),
        "pass_over": _count(
            1_000_000,
            "`rolling`: pairing passes in a row that may pass a bot over, pairing others; then it comes before all",
        ),
        "fairness": _bits("`rolling`: bits that a pair of fast bots costs who have met too many such; 0: nothing"),
        "overdue": Number(
            0.0,
            1000.0,
            meaning="mean games of waiting (`barrier`: rounds without a game) after which a bot comes before all, the "
            "longest waiting first, if it has waited for `patience_s`, too, or been passed over a tenth of `pass_over` "
            "times; 0: never",
        ),
    }
)
_WAITING: Final = frozenset(field.name for field in fields(Waiting))


def flat(constraints: Constraints, waiting: Waiting) -> dict[str, Any]:
    """The inverse of :func:`shared`: every option by its word in configuration, JSON values."""
    values: dict[str, Any] = {}
    for key, option in _OPTIONS.items():
        field = _field(key)
        value = getattr(waiting if field in _WAITING else constraints, field)
        if isinstance(option, Seconds):
            value = value / MICROSECONDS
        values[key] = str(value) if isinstance(value, Kin) else value
    return values


def _field(key: str) -> str:
    """The dataclasses' name of an option."""
    return key.removesuffix("_s")


SHARED: Final[Mapping[str, Option]] = MappingProxyType(
    {
        key: _OPTIONS[key]._replace(default=None if key == "max_expected" else value)
        for key, value in flat(Constraints(), Waiting()).items()
    }
)
"""Every option by its word, with its default; that of `max_expected` is the method's."""


def shared(what: str, options: Mapping[str, Any], defaults: Constraints) -> tuple[Constraints, Waiting]:
    """The constraints and the waiting rule that `options` ask for; other keys in it are ignored.

    :param defaults: constraints where `options` say nothing
    :raises Refused: where a value is not possible
    """
    values = {
        _field(key): read(what, key, option=SHARED[key], value=value, code=Code.PAIRING_OPTION)
        for key, value in options.items()
        if key in SHARED
    }
    waiting = {field: values.pop(field) for field in _WAITING & values.keys()}
    return replace(defaults, **values), Waiting(**waiting)
