"""Peers of the protocols without sockets, each as strict as a real one."""
