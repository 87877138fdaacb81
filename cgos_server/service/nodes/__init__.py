"""How the nodes of a cluster are asked from outside of them: by pages, and by commands given on any machine."""
