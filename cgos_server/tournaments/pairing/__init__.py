"""What several systems pair with: byes, colors, groups, weights."""
