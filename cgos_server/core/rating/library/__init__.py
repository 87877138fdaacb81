"""The headline rating for anybody with results in hand, as :class:`cgos_server.core.rating.BradleyTerry`."""
