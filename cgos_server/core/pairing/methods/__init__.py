"""The matchmakers, each with its declaration."""
