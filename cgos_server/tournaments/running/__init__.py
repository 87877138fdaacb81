"""Events that a server holds by itself: what their log says, and what is to be done next."""
