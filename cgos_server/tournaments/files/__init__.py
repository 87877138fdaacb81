"""Tournaments as files: TRF16, CSV, JSON, H9 and OpenGotha's XML."""
