"""The program ``cgos-client``, also as ``python -m cgos_client``.

Its first look is at the version of cgos-protocol: with another one what is called may behave otherwise.
"""

from __future__ import annotations

import sys

from cgos_client.version import __version__
from cgos_protocol.compatibility import mismatch


def main() -> None:
    """Run the command line; exits with 2 where cgos-protocol is of another version."""
    sentence = mismatch("cgos-client", __version__)
    if sentence is not None:
        sys.stderr.write(f"Error: {sentence}\n")
        sys.exit(2)
    from cgos_client.cli.main import main as command_line

    command_line(prog_name="cgos-client")


if __name__ == "__main__":
    main()
