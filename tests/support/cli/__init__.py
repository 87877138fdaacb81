"""Commands run by tests, and what answers them."""
