"""Muller's bubble against a round robin and Swiss: long lists ranked again."""
