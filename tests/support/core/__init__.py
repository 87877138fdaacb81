"""Doubles and builders for the tests of ratings, pairing and tournaments."""
