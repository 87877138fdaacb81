"""A program that speaks as bbpPairings does, and pairs neighbors by points and number who have not met."""

from __future__ import annotations

import sys
from pathlib import Path

_PROGRAM = """#!{python} -IS
import sys

def paired(order, met):
    if not order:
        return []
    for other in order[1:]:
        if other not in met[order[0]]:
            rest = paired([one for one in order[1:] if one != other], met)
            if rest is not None:
                return [(order[0], other), *rest]
    return None

if sys.argv[1:] == ["-r"]:
    print("BBP Pairings (https://github.com/BieremaBoyzProgramming/bbpPairings) - {version}", "(Built Jan 1 2020)")
    sys.exit()
assert (sys.argv[1], sys.argv[3]) == ("--dutch", "-p"), sys.argv
text = open(sys.argv[2], newline="").read()
{insertion}
lines = [line for line in text.splitlines() if line.startswith("001")]
assert any(line in ("XXC white1", "XXC black1") for line in text.splitlines())
points, met = {{}}, {{}}
for line in lines:
    cells = [line[at : at + 10] for at in range(91, len(line), 10)]
    points[int(line[4:8])] = float(line[80:84])
    met[int(line[4:8])] = {{int(cell[:4]) for cell in cells}}
order = sorted(points, key=lambda number: (-points[number], number))
bye = next((one for one in reversed(order) if 0 not in met[one]), None) if len(order) % 2 else None
pairs = paired([one for one in order if one != bye], met)
if pairs is None:
    sys.exit(1)
if bye is not None:
    pairs.append((bye, 0))
with open(sys.argv[4], "w") as answer:
    print(len(pairs), *("%d %d" % pair for pair in pairs), sep="\\n", file=answer)
"""


def fake_bbp(folder: Path, insertion: str = "", version: str = "v5.0.1") -> Path:
    """Its path.

    :param insertion: a line of Python that is carried out once the report (`text`) is read
    """
    program = folder / "bbpPairings"
    program.write_text(_PROGRAM.format(python=sys.executable, version=version, insertion=insertion))
    program.chmod(0o755)
    return program
