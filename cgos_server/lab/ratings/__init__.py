"""Rating systems and matchmakers in simulated pools whose true strengths are known."""
