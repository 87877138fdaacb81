"""What observed values mean: pure functions from them to findings, a module a subject."""
