"""`cgos-server event`."""
