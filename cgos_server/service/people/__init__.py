"""Who bots and people are, and what they may do."""
