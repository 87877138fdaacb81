"""Engines that speak GTP."""
