"""The commands of `cgos-server`. Read :mod:`.main` for the list; each module holds a few commands and nothing else."""
