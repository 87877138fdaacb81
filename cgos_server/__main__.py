"""`python -m cgos_server` is `cgos-server`."""

from __future__ import annotations

from cgos_server.cli.main import main

if __name__ == "__main__":
    main(prog_name="cgos-server")
