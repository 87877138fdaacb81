"""Commands about pairing."""
