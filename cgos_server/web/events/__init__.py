"""Pages of events: what is on, coming and over; one event with all that happens in it."""
