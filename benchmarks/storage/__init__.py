"""Writing and reading: commits, and a large database."""
