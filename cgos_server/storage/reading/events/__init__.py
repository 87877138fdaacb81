"""The read side's answers about events: which there are, their logs, their games."""
