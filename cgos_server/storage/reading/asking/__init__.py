"""What was asked by games, as stored."""
