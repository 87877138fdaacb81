"""The program `cgos-client`."""
