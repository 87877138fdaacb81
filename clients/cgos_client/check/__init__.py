"""What goes wrong with a GTP engine, found before it loses games."""
