"""Copies of the whole database in one file each: taken while it is written, checked, put back, removed by age.

Each is a SQLite file of this program's schema, whichever database it was taken from.
"""
