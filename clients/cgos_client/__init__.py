"""cgos-client: connects game engines to a rating server.

The way of one move: ``transport`` (a line arrives) - ``messages`` (what it says) - ``bridge`` (what is to be done) -
``supervisor`` (an engine that cannot be lost) - ``gtp`` or ``bots`` (the engine). Round that, ``runner`` decides when
to connect again and when to stop, and ``cli`` puts it together.
"""
