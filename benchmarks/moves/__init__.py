"""What a move costs the server: board, whole server, crowds of bots, and the load that they put on it."""
