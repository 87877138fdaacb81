"""Pages, streams and their viewers; pictures of the pages."""
