"""``/api/v1``: what programs ask, as JSON, in bulk, and with a token what an owner or an operator may do."""
