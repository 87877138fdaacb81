"""The larger parts that :mod:`cgos_server.app` puts together, each opened from the configuration."""
