"""The commands `tournament`."""
