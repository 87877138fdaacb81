"""`cgos-server doctor`: looks at all around a server, and says what is wrong and what to do."""
