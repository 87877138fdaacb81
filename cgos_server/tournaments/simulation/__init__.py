"""Events of simulated players."""
