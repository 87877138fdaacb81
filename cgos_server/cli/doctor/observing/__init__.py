"""What there is to see of a server and its machine, as plain values. Nothing here judges."""
