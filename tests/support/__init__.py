"""Doubles and builders for tests: simulated time, a store that commits on demand, sessions that record."""
