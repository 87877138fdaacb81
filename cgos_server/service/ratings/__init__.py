"""A venue's ratings: live, computed again, compared, and what is said of them."""
