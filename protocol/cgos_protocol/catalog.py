"""What can be chosen by a word: the project's own declarations and those of plug-ins, which clash or fail in sentences.

Decides which of two of one name holds, and whether a declaration can be used. Must not know: where plug-ins come from
(they are handed in), what is declared.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from cgos_protocol.errors import CgosError, Code, Invalid, Refused
from cgos_protocol.options import Option
from cgos_protocol.plugins import Plugin

NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
"""What a declared name may be."""


@runtime_checkable
class Declared(Protocol):
    """What everything says of itself that can be chosen by a word."""

    @property
    def name(self) -> str:
        """The word: of :data:`NAME`, the same as that of the entry point."""

    @property
    def about(self) -> str:
        """What it does, for people: half a sentence without a full stop."""

    @property
    def options(self) -> Mapping[str, Option]:
        """Its own options by their words, in the order in which they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A :class:`Declared` with the function that makes what it declares.

    :ivar make: takes the options by keyword, those that were given only, and what else its kind says; raises Refused
        where they do not go together
    """

    name: str
    about: str
    make: Callable[..., Any]
    options: Mapping[str, Option] = field(default_factory=dict)


class Kind(NamedTuple):
    """What a catalog holds.

    :ivar noun: for people: ``rating system``
    :ivar code: of the refusal of an unknown word
    :ivar type: what a declaration must be an instance of
    :ivar objection: what else is wrong with a plug-in's declaration, as the end of a sentence; empty for nothing
    """

    noun: str
    code: Code
    type: type[Any]
    objection: Callable[[Any], str] = lambda _: ""


D = TypeVar("D", bound=Declared)


class Catalog(Generic[D]):
    """All that can be chosen. A declaration is imported when it is first asked for.

    What the project declares itself holds against a plug-in of the same name. A name that two plug-ins bring, or one
    that cannot be used, is refused with the reason.

    :param own: name -> ``module:attribute`` of the project's declarations
    :param plugins: what is installed; a class is called without arguments, anything else is the declaration itself
    """

    def __init__(self, kind: Kind, own: Mapping[str, str], plugins: Sequence[Plugin] = ()) -> None:
        self._kind = kind
        self._own = own
        self._plugins = {name: tuple(named) for name, named in groupby(plugins, lambda plugin: plugin.name)}
        self._known: dict[str, D | Refused] = {}

    @property
    def noun(self) -> str:
        """What it holds, for people."""
        return self._kind.noun

    @property
    def names(self) -> tuple[str, ...]:
        """Every word there is, the project's own first; asking for one may be refused."""
        return (*self._own, *(name for name in self._plugins if name not in self._own))

    @property
    def usable(self) -> tuple[str, ...]:
        """The words that are not refused. Imports every plug-in."""
        return tuple(name for name in self.names if name in self._own or not isinstance(self._entry(name), Refused))

    def __contains__(self, name: str) -> bool:
        return name in self._own or name in self._plugins

    def find(self, name: str) -> D:
        """The declaration of that name.

        :raises Refused: where there is none, or a plug-in's cannot be used
        """
        entry = self._entry(name)
        if isinstance(entry, Refused):
            raise Refused.of(entry.code, entry.sentence)
        return entry

    def make(self, name: str, *args: Any, **options: Any) -> Any:
        """What the declaration of that name makes of these arguments.

        :raises Refused: as :meth:`find`; also where a plug-in fails
        """
        declaration: Any = self.find(name)
        try:
            made = declaration.make(*args, **options)
        except CgosError:
            raise
        except Exception as error:
            if not self.origin(name):
                raise
            raise self._unusable(name, f"cannot be made: {_said(error)}") from error
        if made.name != name:
            raise self._unusable(name, f"says that its name is {made.name!r}")
        return made

    def origin(self, name: str) -> str:
        """The distribution and the version that bring it; empty for the project's own and for an unknown word."""
        return "" if name in self._own else ", ".join(plugin.origin for plugin in self._plugins.get(name, ()))

    @property
    def origins(self) -> dict[str, str]:
        """Name -> distribution and version, of the plug-ins that can be used. Imports every plug-in."""
        return {name: self.origin(name) for name in self.usable if name not in self._own}

    @property
    def problems(self) -> list[str]:
        """Sentences about plug-ins that clash or fail. Imports every plug-in."""
        sentences = []
        for name, plugins in self._plugins.items():
            if name in self._own:
                noun, brought = self._kind.noun, " and ".join(plugin.origin for plugin in plugins)
                sentences.append(
                    f"The {noun} {name!r} of {brought} is left out: the server has its own of that name. Rename it."
                )
            elif isinstance(entry := self._entry(name), Refused):
                sentences.append(entry.sentence)
        return sentences

    def _entry(self, name: str) -> D | Refused:
        if name not in self._known:
            self._known[name] = self._loaded(name)
        return self._known[name]

    def _loaded(self, name: str) -> D | Refused:
        if name in self._own:
            module, attribute = self._own[name].split(":")
            declaration: D = getattr(importlib.import_module(module), attribute)
            return declaration
        plugins = self._plugins.get(name, ())
        if not plugins:
            kind = self._kind
            return Refused.of(kind.code, f"There is no {kind.noun} {name!r}. Choose one of: {', '.join(self.names)}.")
        if len(plugins) > 1:
            brought = " and ".join(plugin.origin for plugin in plugins)
            return Invalid(Code.PLUGIN, f"The {self._kind.noun} {name!r} is in {brought}. Uninstall one of them.")
        try:
            loaded = plugins[0].load()
            declared = loaded() if isinstance(loaded, type) else loaded
            objection = self._objection(name, declared)
        except (Exception, SystemExit) as error:  # a plug-in's module may raise anything when it is imported
            return self._unusable(name, f"cannot be loaded: {_said(error)}")
        if objection:
            return self._unusable(name, objection)
        checked: D = declared
        return checked

    def _unusable(self, name: str, why: str) -> Refused:
        return Invalid(
            Code.PLUGIN,
            f"The {self._kind.noun} {name!r} of {self.origin(name)} {why}. Install a version that works, or none.",
        )

    def _objection(self, name: str, declared: Any) -> str:
        """What is wrong with a plug-in's declaration, as the end of a sentence; empty for nothing."""
        if not isinstance(declared, self._kind.type):
            return f"is no {self._kind.type.__module__}.{self._kind.type.__qualname__}"
        if declared.name != name or NAME.fullmatch(name) is None:
            return f"is declared as {declared.name!r}; both must be one word of small letters, digits and hyphens"
        if not isinstance(declared.about, str) or not declared.about:
            return "does not say what it is about"
        for key, option in declared.options.items():
            if not isinstance(option, Option) or not key.isidentifier():
                return f"has an option {key!r} that is none of cgos_protocol.options"
            if option.default is not None:
                option.read(option.default)
        return self._kind.objection(declared)


def _said(error: BaseException) -> str:
    """What went wrong, in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
