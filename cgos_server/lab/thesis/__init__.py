"""T. Vuorinen, Enhancing Go tournament pairings in Europe (MSc thesis, Tampere 2010): tables, formulas, measures."""
