"""Transcripts without a server that wrote them."""
