"""What is kept: one writer, many readers, SQLAlchemy Core behind one narrow interface."""

DATABASE = "cgos.sqlite"
"""The database's name in a server's data directory."""
