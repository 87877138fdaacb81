"""Ratings that can be improved, corrected and started from: refits, saved states, corrections, games played twice; and
bots have families.

Revision: 0003
After: 0002
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None

NEW = ("sd", "other_id", "was2", "repeat", "digest")
CORRECTIONS = sa.text("kind = 'correction'")
OF_VERSIONS = sa.text("version_id IS NOT NULL")
WITH_DIGEST = sa.text("digest IS NOT NULL")


def rebuilding(**options: Any) -> dict[str, Any]:
    """SQLite cannot alter a table like this: it is copied."""
    if op.get_bind().dialect.name == "postgresql":
        return {}
    return {"recreate": "always", **options}


def upgrade() -> None:
    with op.batch_alter_table("bots", **rebuilding()) as batch:
        batch.add_column(sa.Column("family_id", sa.Integer(), nullable=True))
        batch.create_foreign_key(op.f("fk_bots_family_id"), "bots", ["family_id"], ["id"], deferrable=True)
    with op.batch_alter_table("ledger", **rebuilding(table_kwargs={"sqlite_with_rowid": False})) as batch:
        batch.add_column(sa.Column("sd", sa.Float(), nullable=True))
        batch.add_column(sa.Column("other_id", sa.Integer(), nullable=True))
        batch.add_column(sa.Column("was2", sa.Integer(), nullable=True))
        batch.add_column(sa.Column("repeat", sa.Integer(), server_default=sa.text("0"), nullable=False))
        batch.add_column(sa.Column("digest", sa.BigInteger(), nullable=True))
        batch.create_foreign_key(op.f("fk_ledger_other_id"), "versions", ["other_id"], ["id"])
    op.create_index(
        "ix_ledger_correction", "ledger", ["game_id", "seq"], sqlite_where=CORRECTIONS, postgresql_where=CORRECTIONS
    )
    op.create_index(
        "ix_ledger_version",
        "ledger",
        ["version_id", "venue_id", "seq"],
        sqlite_where=OF_VERSIONS,
        postgresql_where=OF_VERSIONS,
    )
    op.create_index(
        "ix_ledger_digest",
        "ledger",
        ["black_id", "white_id", "digest"],
        sqlite_where=WITH_DIGEST,
        postgresql_where=WITH_DIGEST,
    )
    op.create_table(
        "builds",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_builds")),
    )
    op.create_table(
        "refits",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("included", sa.Integer(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("applied", sa.Integer(), nullable=False),
        sa.Column("cold", sa.Integer(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("took_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("venue_id", "system", "number", name=op.f("pk_refits")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_refits_venue_id")),
        sa.ForeignKeyConstraint(["build"], ["builds.id"], name=op.f("fk_refits_build")),
    )
    op.create_index(
        op.f("ix_refits_venue_id_system_applied_number"), "refits", ["venue_id", "system", "applied", "number"]
    )
    op.create_table(
        "refit_points",
        sa.Column("venue_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("applied", sa.Integer(), nullable=False),
        sa.Column("mean", sa.Float(), nullable=False),
        sa.Column("spread", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("venue_id", "system", "version_id", "number", name=op.f("pk_refit_points")),
        sa.ForeignKeyConstraint(
            ["venue_id", "system", "number"],
            ["refits.venue_id", "refits.system", "refits.number"],
            name=op.f("fk_refit_points_venue_id_system_number"),
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_refit_points_version_id")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_refit_points_venue_id_system_number"), "refit_points", ["venue_id", "system", "number"])
    op.create_table(
        "rating_states",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("refit", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("venue_id", "system", name=op.f("pk_rating_states")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_rating_states_venue_id")),
    )
    op.create_table(
        "corrections",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=True),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("winner", sa.Integer(), nullable=True),
        sa.Column("result", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_corrections")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_corrections_game_id")),
    )
    op.create_index(op.f("ix_corrections_game_id_id"), "corrections", ["game_id", "id"])


def downgrade() -> None:
    for table in ("corrections", "rating_states", "refit_points", "refits", "builds"):
        op.drop_table(table)
    for index in ("ix_ledger_digest", "ix_ledger_version", "ix_ledger_correction"):
        op.drop_index(index, "ledger")
    with op.batch_alter_table("ledger", **rebuilding(table_kwargs={"sqlite_with_rowid": False})) as batch:
        batch.drop_constraint(op.f("fk_ledger_other_id"), type_="foreignkey")
        for name in NEW:
            batch.drop_column(name)
    with op.batch_alter_table("bots", **rebuilding()) as batch:
        batch.drop_constraint(op.f("fk_bots_family_id"), type_="foreignkey")
        batch.drop_column("family_id")
