"""Results of the lab that are kept beside the documentation, and the pages that show them."""
