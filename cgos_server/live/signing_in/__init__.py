"""How a bot comes in: arrivals, duplicate logins, several venues at once."""
