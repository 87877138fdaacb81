"""Small configurations and what is wrong with them."""
