"""The configuration: types, sources, and what becomes of a venue's table.

Read :mod:`.schema` for the keys, :mod:`.loader` for the sources, :mod:`.venues` for venues, :mod:`.keys` for the words.
"""
