"""Experiments offline: many simulated events in several processes. Knows core, and nothing of a server."""
