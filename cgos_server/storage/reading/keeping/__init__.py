"""The read side's answers for operators: what is old, and how much room everything takes."""
