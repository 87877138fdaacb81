"""GoR, its expected total change and entropy pairing (Vuorinen 2010), value by value."""
