"""What is written: records, their effects, group commit."""
