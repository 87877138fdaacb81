"""What is said of pairings: previews, explanations, figures."""
