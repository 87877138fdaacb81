"""A file that cannot be read, with the place: what every reader of tournament files raises.

Must not know: any format, where files lie.
"""

from __future__ import annotations

from cgos_server.errors import Refused

LONGEST = 200
"""Characters of a problem, which may quote the file."""


class Misread(Refused):
    """A file is not what it should be at one place.

    :ivar line: 1 = the first
    :ivar column: of its characters, 1 = the first
    """

    def __init__(self, code: str, line: int, column: int, problem: str, remedy: str) -> None:
        if len(problem) > LONGEST:
            problem = f"{problem[:LONGEST]}..."
        super().__init__(code, f"Line {line}, column {column}: {problem}. {remedy}.")
        self.line = line
        self.column = column
