"""What a database or a file system objects to, as our own error.

Must not know: what was tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cgos_protocol.errors import StoreError
from cgos_server.storage.location import Location


@contextmanager
def store_errors(location: Location, what: str, *faults: type[Exception]) -> Iterator[None]:
    """Raises StoreError for one of these faults.

    :param what: what became of the database, as ``could not be read``
    """
    try:
        yield
    except faults as error:
        raise StoreError(f"the database {location} {what}: {error}") from error
