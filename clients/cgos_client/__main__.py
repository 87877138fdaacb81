"""`python -m cgos_client` is `cgos-client`."""

from __future__ import annotations

from cgos_client.cli import main

if __name__ == "__main__":
    main()
