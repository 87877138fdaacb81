"""`cgos-server ask` and `question`: what is asked by games, here or on a server elsewhere."""
