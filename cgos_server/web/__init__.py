"""The pages for people: read the database, never touch the live server."""
