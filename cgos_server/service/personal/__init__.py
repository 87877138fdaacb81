"""What concerns a person or a bot as such: all that is kept of it is erased or handed out."""
