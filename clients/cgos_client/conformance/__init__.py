"""The conformance kit: readable transcripts of the CGOS line protocol, played against any server.

:mod:`language` reads transcripts, :mod:`patterns` and :mod:`laws` hold what a server says against them, :mod:`actor` is
one connection, :mod:`expectations` what a case hears, :mod:`case_run` plays one case, :mod:`runner` plays many,
:mod:`command` is what people type. The language is described in ``README.md`` beside this file. Must not know: how any
server is made.
"""
