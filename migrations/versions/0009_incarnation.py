"""A database knows which life of the server it holds, and above which number new numbers begin.

Revision: 0009_incarnation
After: 0008_questions

Two columns of the one row of `server`. `db restore` of an older backup leaves in the audit what the second one must be.
"""

from __future__ import annotations

import json
import secrets

import sqlalchemy as sa
from alembic import op

revision: str = "0009_incarnation"
down_revision: str | None = "0008_questions"
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = "Which numbers a restore or a copy left out: those that nothing has yet may be given out again."

_NOTE = sa.text("SELECT detail FROM audit WHERE action = 'db restore' ORDER BY id DESC LIMIT 1")
_FILL = sa.text("UPDATE server SET incarnation = :incarnation, numbers_above = :above")


def upgrade() -> None:
    op.add_column("server", sa.Column("incarnation", sa.String(), nullable=False, server_default=""))
    op.add_column("server", sa.Column("numbers_above", sa.Integer(), nullable=False, server_default=sa.text("0")))
    connection = op.get_bind()
    note = connection.execute(_NOTE).scalar()
    above = 0 if note is None else json.loads(note)["numbers_above"]
    connection.execute(_FILL, {"incarnation": secrets.token_hex(4), "above": above})


def downgrade() -> None:
    with op.batch_alter_table("server") as server:
        server.drop_column("numbers_above")
        server.drop_column("incarnation")
