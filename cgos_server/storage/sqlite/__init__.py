"""SQLite: the writer, the readers, connections."""
