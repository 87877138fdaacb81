"""The messages of the HTTP API ``/api/v1`` and what describes its operations."""
