"""The protocol ``cgos.v2``: its messages, their encoding, the server's side of a session, its description."""
