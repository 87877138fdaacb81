"""A live venue without a server: simulated time, sessions that record, a store that commits on demand."""
