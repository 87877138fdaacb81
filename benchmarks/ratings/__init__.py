"""Rating systems: how fast, and how true."""
