"""The asyncio shell of the live server: lobby, live games, matchmaker, rater, recovery."""
