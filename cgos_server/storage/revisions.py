"""The steps from one schema to the next: what each does, and what going back over it loses.

Each migration declares that itself: its docstring's first line, `LOSES`, `IRREVERSIBLE`. Must not know: databases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from cgos_protocol.errors import Code, Invalid

if TYPE_CHECKING:
    from alembic.script import Script, ScriptDirectory


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One migration.

    :ivar before: the revision that it changes; None for the first
    :ivar does: a sentence
    :ivar loses: what going back over it loses, as a sentence; None where nothing is lost
    :ivar irreversible: why there is no way back over it, as a sentence; None where there is one
    """

    revision: str
    before: str | None
    does: str
    loses: str | None
    irreversible: str | None


def knows(scripts: ScriptDirectory, revision: str) -> bool:
    """Whether this program's migrations lead to that revision."""
    return any(script.revision == revision for script in scripts.walk_revisions())


def between(scripts: ScriptDirectory, older: str, newer: str) -> list[Step]:
    """The steps from `older`, which has been taken, up to `newer`, in the order of an upgrade. Both are known."""
    return [_step(script) for script in scripts.iterate_revisions(newer, older)][::-1]


def way_back(scripts: ScriptDirectory, revision: str, to: str | None) -> list[Step]:
    """The steps that are to be taken back from `revision`, the latest first; none where that is `to` already.

    :param to: where to; None: over one step
    :raises Invalid: where there is no such revision, it is a newer one, or there is no way back
    """
    newest_first = [_step(script) for script in scripts.iterate_revisions(revision, "base")]
    order = [step.revision for step in newest_first]
    if to is not None and to not in order:
        raise Invalid(Code.REVISION, _no_such(scripts, to, order))
    steps = newest_first[: 1 if to is None else order.index(to)]
    for step in steps:
        if step.irreversible is not None:
            raise Invalid(
                Code.IRREVERSIBLE,
                f"There is no way back over {step.revision}: {step.irreversible} Restore the backup that was taken "
                "before the upgrade (`cgos-server db backups` lists them): what was recorded since is lost then.",
            )
    return steps


def _no_such(scripts: ScriptDirectory, target: str, there: list[str]) -> str:
    if knows(scripts, target):
        return (
            f"The schema {target} is newer than that of the database, {there[0]}. `cgos-server db upgrade` goes there."
        )
    return f"There is no schema {target}. This program can go back to: {', '.join(there[1:]) or 'none'}."


def _step(script: Script) -> Step:
    module: Any = script.module
    return Step(
        revision=script.revision,
        before=module.down_revision,
        does=script.doc,
        loses=module.LOSES,
        irreversible=getattr(module, "IRREVERSIBLE", None),
    )
