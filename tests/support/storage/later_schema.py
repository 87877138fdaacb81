"""A newer program: the project's migrations and one made-up step behind them, in a folder of the test's own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import cgos_server
from cgos_server.storage import schema

REVISION = "9999_mottoes"
VERSION = "99.1.0"

# On SQLite two tables are copied, as most changes of a table need it there: one that refers to itself and that others
# refer to, and one without row numbers that has indexes of some rows only.
_STEP = '''
"""Bots have mottoes, entries of the ledger remarks."""

import os
import signal
import sys

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None

LOSES = "All mottoes and remarks."
{more}


def copied(**options):
    return dict(options, recreate="always") if op.get_bind().dialect.name == "sqlite" else dict()


def upgrade():
    with op.batch_alter_table("bots", **copied()) as batch:
        batch.add_column(sa.Column("motto", sa.String(), server_default="", nullable=False))
    op.execute("UPDATE bots SET motto = 'I am ' || name")
    with op.batch_alter_table("ledger", **copied(table_kwargs=dict(sqlite_with_rowid=False))) as batch:
        batch.add_column(sa.Column("remark", sa.Text(), nullable=True))
    op.create_index("ix_bots_motto", "bots", ["motto"])
    {last}


def downgrade():
    op.drop_index("ix_bots_motto", "bots")
    with op.batch_alter_table("ledger", **copied(table_kwargs=dict(sqlite_with_rowid=False))) as batch:
        batch.drop_column("remark")
    with op.batch_alter_table("bots", **copied()) as batch:
        batch.drop_column("motto")
    {back}
'''


class Later:
    """Makes this process the newer program, and the older one again.

    :param folder: where that program's migrations are to lie
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._patch = pytest.MonkeyPatch()
        self.before = schema.head()

    def __call__(self, last: str = "", back: str = "", more: str = "") -> Path:
        """The folder of its migrations.

        :param last: a statement with which its step ends
        :param back: one with which the way back over that ends
        :param more: one that the step declares
        """
        shutil.copytree(schema.migrations(), self._folder, ignore=shutil.ignore_patterns("__pycache__"))
        step = _STEP.format(revision=REVISION, before=self.before, last=last, back=back, more=more)
        (self._folder / "versions" / f"{REVISION}.py").write_text(step)
        self.newer_again()
        return self._folder

    def newer_again(self) -> None:
        """Be the newer program."""
        self._patch.setattr(schema, "migrations", lambda: self._folder)
        self._patch.setattr(cgos_server, "__version__", VERSION)

    def older_again(self) -> None:
        """Be what this process was."""
        self._patch.undo()


@pytest.fixture
def make_later(tmp_path: Path) -> Iterator[Later]:
    """Makes this process the newer program."""
    later = Later(tmp_path / "later")
    yield later
    later.older_again()
