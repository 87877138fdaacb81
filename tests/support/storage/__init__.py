"""Databases for tests: their contents, their servers, and writers that can be made to fail."""
