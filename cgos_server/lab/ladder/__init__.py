"""The continuous server in simulated time: any matchmaker with any rating system, hours of it in seconds."""
