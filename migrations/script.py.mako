"""${message}

Revision: ${up_revision}
After: ${down_revision | comma,n}
Made: ${create_date}
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision: str = ${repr(up_revision)}
down_revision: str | None = ${repr(down_revision)}
branch_labels: str | None = ${repr(branch_labels)}
depends_on: str | None = ${repr(depends_on)}

LOSES: str | None = "Say what going back loses, or None."
"""For `db downgrade`; where there is no way back, `IRREVERSIBLE` says why instead."""


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    ${downgrades if downgrades else "pass"}
