"""A newer program: the project's migrations and one made-up step behind them, in a folder of the test's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cgos_server.storage import schema

REVISION = "9999_mottoes"

# On SQLite two tables are copied, as most changes of a table need it there: one that refers to itself and that others
# refer to, and one without row numbers that has indexes of some rows only.
_STEP = """
import os
import signal

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None


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
"""


@pytest.fixture
def make_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes this process the newer program, whose step ends with a statement of the caller's; the folder."""
    before = schema.head()

    def make(last: str = "") -> Path:
        folder = tmp_path / "later"
        shutil.copytree(schema.migrations(), folder, ignore=shutil.ignore_patterns("__pycache__"))
        step = _STEP.format(revision=REVISION, before=before, last=last)
        (folder / "versions" / f"{REVISION}.py").write_text(step)
        monkeypatch.setattr(schema, "migrations", lambda: folder)
        return folder

    return make
