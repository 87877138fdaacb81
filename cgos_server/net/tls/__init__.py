"""TLS of the server's own listeners: the certificate, and what is between a socket and whatever is spoken on it."""
