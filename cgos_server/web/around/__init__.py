"""What stands around every answer: limits, caches, problems."""
