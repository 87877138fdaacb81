"""What the answers to questions are worth: error rates, costs and calibration, by simulation."""
