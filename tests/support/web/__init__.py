"""A past for the pages and the API to show, and servers that show it."""
