"""The program ``cgos-server``, also as ``python -m cgos_server``.

Its first look is at the version of cgos-protocol: with another one the imports behind it may fail.
"""

from __future__ import annotations

import sys

from cgos_protocol.compatibility import mismatch
from cgos_server import __version__


def main() -> None:
    """Run the command line; exits with 2 where cgos-protocol is of another version."""
    sentence = mismatch("cgos-server", __version__)
    if sentence is not None:
        sys.stderr.write(f"Error: {sentence}\n")
        sys.exit(2)
    from cgos_server.cli.main import main as command_line

    command_line(prog_name="cgos-server")


if __name__ == "__main__":
    main()
