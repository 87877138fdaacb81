"""How far off ratings are, and how honest their intervals: by system, of newcomers, by matchmaker."""
