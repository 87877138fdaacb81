"""People who act, and a database for them to act on."""
