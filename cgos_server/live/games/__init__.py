"""Games that run, are restored and have ended."""
