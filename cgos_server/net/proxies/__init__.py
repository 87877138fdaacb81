"""How a proxy says where a connection comes from: the header of the PROXY protocol, before anything else is spoken."""
