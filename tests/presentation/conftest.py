"""What pages and commands show is made from the pages' database."""

from support.web.databases import database, history  # noqa: F401 - every test here may ask for them
