"""Events on the live server: their logs are written, their games begun."""
