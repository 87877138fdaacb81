"""Pages and games for the tests in a browser."""
