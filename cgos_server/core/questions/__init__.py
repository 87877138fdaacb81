"""What is asked about versions outside of the ladder, and how games answer it."""
