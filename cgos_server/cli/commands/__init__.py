"""Commands of operators and owners on the command line, as they are declared."""
