"""The configuration: types, sources, and what becomes of a venue's table.

Read :mod:`.schema` for the keys, :mod:`.loader` for the sources, :mod:`.venues` for venues, :mod:`.keys` for the words.
"""

from cgos_server.config.keys import explain, keys_markdown, plain, template
from cgos_server.config.loader import load
from cgos_server.config.problems import ConfigErrors
from cgos_server.config.schema import Config, VenueConfig
from cgos_server.config.values import us
from cgos_server.config.venues import check_fixed, enroll_venues, fixed, venue_value

__all__ = [
    "Config",
    "ConfigErrors",
    "VenueConfig",
    "check_fixed",
    "enroll_venues",
    "explain",
    "fixed",
    "keys_markdown",
    "load",
    "plain",
    "template",
    "us",
    "venue_value",
]
