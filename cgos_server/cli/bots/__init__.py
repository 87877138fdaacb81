"""Commands about bots and accounts."""
