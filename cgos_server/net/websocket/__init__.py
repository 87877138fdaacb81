"""Bots and watchers by WebSocket."""
