"""What happens now, told to browsers and programs as it happens: the game process's facts in, streams out."""
