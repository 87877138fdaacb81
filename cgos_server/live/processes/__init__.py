"""Children of the server, and what is done now and then."""
