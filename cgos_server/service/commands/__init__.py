"""All that can be done to the server: each command is one class, in the module of its subject."""
