"""What is kept: one writer, many readers, SQLAlchemy Core behind one narrow interface."""
