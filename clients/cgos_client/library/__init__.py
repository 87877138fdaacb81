"""The library for programs that play by themselves."""
