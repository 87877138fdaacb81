"""What a PostgreSQL server tells of its settings, its clock and the size of a database.

Must not know: which settings are good ones.
"""

from __future__ import annotations

import asyncio
import time

from cgos_server.storage.condition import PostgresCondition
from cgos_server.storage.failures import store_errors
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.connections import READ_ONLY, apart, connect, faults

_LOOK_S = 30.0
_QUESTION = """
SELECT pg_database_size(current_database()) AS database_bytes,
    current_setting('server_version') AS version,
    current_setting('fsync')::bool AS fsync,
    current_setting('full_page_writes')::bool AS full_page_writes,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
    current_setting('max_connections')::int AS max_connections
"""


def postgres_condition(url: PostgresUrl) -> PostgresCondition:
    """Of the database at `url`. Raises StoreError, and Refused where the driver is missing."""
    return apart(lambda: _look(url))


async def _look(url: PostgresUrl) -> PostgresCondition:
    connection = await connect(url, "cgos-server doctor", READ_ONLY)
    try:
        with store_errors(url, "cannot be read", *faults()):
            async with asyncio.timeout(_LOOK_S):
                row = await connection.fetchrow(_QUESTION)
                # Its clock is read in the middle of one short question.
                before = time.time()
                there = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
                after = time.time()
                await connection.close()
    finally:
        connection.terminate()
    answer = dict(row)
    answer["version"] = answer["version"].split()[0]
    return PostgresCondition(**answer, ahead_ms=round(((before + after) / 2 - there) * 1000))
