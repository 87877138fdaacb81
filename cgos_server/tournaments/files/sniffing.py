"""Of which kind a tournament file is, by its ending and its bytes; files of other kinds are refused by their names.

Must not know: what is in any of these files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.files import csv_table as tournament_csv
from cgos_server.tournaments.files import h9 as tournament_h9
from cgos_server.tournaments.files import pgn

Format: TypeAlias = Literal["trf", "csv", "json", "h9", "xml"]

MARK: Final = b"\xef\xbb\xbf"
"""Of byte order, in UTF-8."""

WRITTEN: Final[tuple[Format, ...]] = ("trf", "csv", "json", "h9")

_ENDINGS: Final[Mapping[str, Format]] = MappingProxyType(
    {"trf": "trf", "trfx": "trf", "csv": "csv", "tsv": "csv", "json": "json", "h9": "h9", "xml": "xml"}
)
_REPORT: Final = re.compile(rb"^(?:\xef\xbb\xbf)?(?:001 |0[1-9]2 |1[0-9]2 |XX[A-Z] |### )", re.MULTILINE)
_GAMES: Final = "Tournament files hold players and pairings, not games."
_OTHERS: Final = (
    (re.compile(rb"\(\s*;"), f"a game in SGF. {_GAMES} Give TRF, CSV, JSON, H9 or OpenGotha's XML"),
    (re.compile(rb"PK\x03\x04"), "a spreadsheet or another packed file. Save the table as CSV"),
    (re.compile(rb"\xd0\xcf\x11\xe0"), "an old spreadsheet. Save the table as CSV"),
    (re.compile(rb"\x1f\x8b|BZh|\xfd7zXZ"), "compressed. Unpack it"),
    (re.compile(rb"%PDF"), "a PDF. Give what it was made from"),
    (re.compile(rb"(?i)<(?:!doctype\s+)?html"), "a page in HTML. Give TRF, CSV, JSON, H9 or OpenGotha's XML"),
    (re.compile(rb"SQLite format 3"), "a database. Give TRF, CSV, JSON, H9 or OpenGotha's XML"),
)
_SNIFFED: Final = 4096
"""Bytes that are looked at for kinds that have no ending of their own."""


def format_of(name: str) -> Format | None:
    """The format that a name's ending says; None: none."""
    return _ENDINGS.get(_ending(name))


def written_as(name: str, source: str, format_: Format) -> Format:
    """The format in which a file of that name is written: what its ending says; without one, or with that of the file
    that was read, the format of that file.

    :param source: name of the file that was read
    :param format_: and its format
    :raises Refused: where the ending is unknown
    """
    named = format_of(name)
    if named is None and _ending(name) and _ending(name) != _ending(source):
        endings = ", ".join(f".{one}" for one in WRITTEN)
        raise Invalid(
            Code.FILE_ENDING, f"{name} cannot be written: .{_ending(name)} is no ending known here. Use {endings}."
        )
    return named or format_


def sniff(name: str, data: bytes) -> Format:
    """The format, by what the bytes look like where they leave no doubt, else by the name's ending.

    JSON begins with a brace, XML with an angle bracket, a report has lines with its codes, a table names a column
    ``name`` in its first line, H9 has a line of a player first.

    :raises Refused: where it is of none of these kinds
    """
    ending = format_of(name)
    begin = data.removeprefix(MARK).lstrip()[:_SNIFFED]
    text = begin.decode("utf-8", "replace").replace("\r", "\n")
    if pgn.begins_with_header(text):
        remedy = "`tournament results` enters results of PGN headers."
        raise Invalid(Code.FILE_KIND, f"{_shown(name)} is games in PGN. {_GAMES} {remedy}")
    if begin[:1] == b"{" or ending == "json":
        return "json"
    for pattern, what in _OTHERS:
        if pattern.match(begin):
            raise Invalid(Code.FILE_KIND, f"{_shown(name)} is {what}.")
    if begin[:1] == b"<":
        return "xml"
    if ending:
        return ending
    if _REPORT.search(data.replace(b"\r", b"\n")):
        return "trf"
    if tournament_h9.looks_alike(text):
        return "h9"
    if not begin or tournament_csv.looks_alike(text) or begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "csv"
    raise Invalid(
        Code.FILE_KIND,
        f"{_shown(name)} is of no kind known here: it has neither lines of TRF or H9, nor a first line that names a "
        "column name, nor JSON or XML. Give one of these.",
    )


def _ending(name: str) -> str:
    stem, _, ending = name.rpartition(".")
    return ending.lower() if stem else ""


def _shown(name: str) -> str:
    return "Standard input" if name in ("", "-") else name
