"""The headline rating: Bradley-Terry with a full posterior and a prior learned from the pool.

Model and formulas: Bradley & Terry (1952), Davidson (1970) for draws, expectation propagation after Minka (2001).
"""
