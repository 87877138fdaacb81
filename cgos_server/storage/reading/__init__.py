"""The read side: what anybody asks the database, a class a subject, put together by
:class:`cgos_server.storage.reading.history.History`."""
