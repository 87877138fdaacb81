"""cgos-server: a rating server where game engines meet, play around the clock and find out how strong they are.

The house, from the top: ``cli`` (commands) - ``app`` (table of contents) - ``web`` (pages and API) - ``presentation`` -
``live`` (the asyncio shell) - ``service`` (use cases) - ``net`` and ``storage`` - ``observability`` - ``tournaments``
and ``core`` (pure) - the distribution cgos-protocol. A layer imports only those below it. Start reading at
:mod:`cgos_server.app`; ``docs/architecture.md`` walks one move through all of it.
"""

__version__ = "0.1.0"
