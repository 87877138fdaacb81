"""Whole-history rating (Coulom, 2008)."""
