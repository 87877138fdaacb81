"""cgos-client: connects game engines to a rating server."""
