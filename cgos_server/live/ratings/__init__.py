"""How results reach the ratings, and when they are refitted."""
