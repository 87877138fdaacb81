"""Birk's top-down pairing of 2006: the server's matchmaker beside the exact law of the method."""
