"""Pictures of tournaments, for files and for pages alike."""
