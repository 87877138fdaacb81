"""Fixtures that every test of the server may ask for."""

from support.storage.later_schema import make_later
from support.storage.postgres_fixtures import new_url, postgres
from support.storage.rated_past import rated_past

__all__ = ["make_later", "new_url", "postgres", "rated_past"]
