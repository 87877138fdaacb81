"""When and how a venue pairs, and how its games begin."""
