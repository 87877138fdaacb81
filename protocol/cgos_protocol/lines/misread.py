"""The text of a tournament file's bytes, and what every reader of such files raises: the trouble with its place.

Must not know: any format, where files lie.
"""

from __future__ import annotations

import contextlib
import re

from cgos_protocol.errors import Code, Invalid

ENCODINGS = ("utf-8", "cp1252", "latin-1")
"""The first that fits is taken; the last fits always. Programs of Western Windows write the second."""

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Characters that no name has, and that a terminal may take for a command."""

LONGEST = 200
"""Characters of a problem, which may quote the file."""


class Misread(Invalid):
    """A file is not what it should be at one place.

    :ivar line: 1 = the first
    :ivar column: of its characters, 1 = the first
    """

    def __init__(self, code: Code, line: int, column: int, problem: str, remedy: str) -> None:
        if len(problem) > LONGEST:
            problem = f"{problem[:LONGEST]}..."
        super().__init__(code, f"Line {line}, column {column}: {problem}. {remedy}.")
        self.line = line
        self.column = column


def one_line(text: str) -> str:
    """The text without control characters, with single blanks."""
    return " ".join(CONTROL.sub(" ", text).split())


def text_of(code: Code, data: bytes) -> tuple[str, str]:
    """The text of a file, byte order mark included, and its encoding.

    :raises Misread: UTF-16, which nobody writes such files in but by mistake
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Misread(code=code, line=1, column=1, problem="the file is UTF-16", remedy="Save it as UTF-8")
    for encoding in ENCODINGS[:-1]:
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding), encoding
    return data.decode(ENCODINGS[-1]), ENCODINGS[-1]
