"""Commands that set a server up, run it and look after it."""
