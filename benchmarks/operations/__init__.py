"""What operators meet: faults, restores, upgrades, tried out for real."""
