"""Use cases: what people and bots ask for, whoever asks. Drives the live server only through :mod:`.control`."""
