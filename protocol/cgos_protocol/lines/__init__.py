"""The CGOS line protocol, as the server speaks it with engines, viewers and operators."""
