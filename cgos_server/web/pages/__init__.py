"""The pages for people, a module for each kind. They read the database; what they do not know is the live server."""
