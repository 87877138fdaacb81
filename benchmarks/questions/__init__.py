"""What questions cost on a real server."""
