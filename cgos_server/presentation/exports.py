"""Rows of the read side as lines and files of exports, for the API and for commands.

Must not know: HTTP, SQL, how lines and archives are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import structlog
from msgspec.structs import asdict

from cgos_protocol.api.bulk import ExportedGame
from cgos_protocol.errors import OurFault
from cgos_protocol.sgf import writing as sgf
from cgos_server.presentation.export_forms import File
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.storage.reading.answers import GameDetail
from cgos_server.storage.reading.bulk import RatedGame

log = structlog.get_logger(__name__)

_LABEL: Final = re.compile(r"([0-9]+)(\??)")


def exported_games(rows: Sequence[RatedGame], headline: Callable[[str, list[str]], str]) -> list[ExportedGame]:
    """Games with their ratings.

    :param headline: which of a venue's rating systems is its headline
    """
    made = []
    for row, changes in rows:
        system = headline(row.venue, [each.system for each in changes]) if changes else None
        before = {each.version: each for each in changes if each.system == system}
        ratings: dict[str, Any] = {}
        for side, version, label in (("black", row.black, row.black_label), ("white", row.white, row.white_label)):
            if shown := _LABEL.fullmatch(label):
                ratings |= {f"{side}_rating": int(shown[1]), f"{side}_provisional": bool(shown[2])}
            if change := before.get(version):
                numbers = ("mean", "half_width", "lower", "upper")
                ratings |= {f"{side}_{name}": getattr(change, f"before_{name}") for name in numbers}
        made.append(ExportedGame(**asdict(row), system=system, **ratings))
    return made


def game_files(details: Sequence[GameDetail], place: str, event: str = "") -> list[File]:
    """Games as files. One that cannot be read is left out and logged: the others are wanted all the same.

    :param place: the server's name
    :param event: of which they all are; empty: their folders are their venues
    """
    files = []
    for detail in details:
        row = detail.game
        try:
            text = sgf.write(StoredGame(detail).record(place))
        except (OurFault, ValueError) as error:
            log.warning("a game is missing in an export", game=row.id, why=str(error))
            continue
        files.append(File(event or row.venue, f"{row.id}.sgf", row.started_at // 1000, text.encode()))
    return files
