"""What owners ask by games: is a new version stronger, where does it stand, how does it fare against another one."""
