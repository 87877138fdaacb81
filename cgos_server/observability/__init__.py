"""What an operator sees of the running server: metrics and logs. Decides nothing about games."""
