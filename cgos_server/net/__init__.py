"""Sockets: the bots' ports, the control socket, the health listener, and the loop that knows when a line came."""
