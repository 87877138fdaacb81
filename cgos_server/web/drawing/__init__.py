"""Pictures as SVG: plain functions of values, with classes that the style sheet fills. No database, no HTTP."""
