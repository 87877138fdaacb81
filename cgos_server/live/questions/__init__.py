"""Questions of owners, live: their games are fitted between those of the ladder, after those of events."""
