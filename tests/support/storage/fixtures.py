"""Fixtures that every test of the server may ask for."""

from support.storage.later_schema import make_later
from support.storage.postgres_fixtures import lasting_url, new_url, postgres
from support.storage.rated_past import rated_past

__all__ = ["lasting_url", "make_later", "new_url", "postgres", "rated_past"]
