"""The reading routes of the API."""
