"""`cgos-server lab`: experiments whose every figure can be computed again."""
