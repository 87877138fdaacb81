"""All of GoR in one report: curves, entropy tables, inflation. Must not know: how any of it is computed."""

from __future__ import annotations

from collections.abc import Sequence

from cgos_server.lab.gor.curves import curves
from cgos_server.lab.gor.entropies import entropies
from cgos_server.lab.gor.inflation import Pool, inflation
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work


def compared(owns: Sequence[float], pool: Pool, work: Work) -> Report:
    """Everything, for players of these ratings and a pool of this size."""
    parts = (curves(owns), entropies(), inflation(pool, work))
    return Report(
        tables=tuple(each for part in parts for each in part.tables),
        checks=tuple(each for part in parts for each in part.checks),
        pictures=tuple(each for part in parts for each in part.pictures),
        notes=tuple(each for part in parts for each in part.notes),
        interrupted=any(part.interrupted for part in parts),
    )
