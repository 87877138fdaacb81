"""Small built-in engines: something to play against on the first day, and load for tests."""
