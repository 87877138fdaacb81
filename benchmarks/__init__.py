"""Measurements, each beside a bare baseline of the same run; what they find is in docs/benchmarks.md."""
