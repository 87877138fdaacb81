"""Systems in which a result moves its two players and nobody else."""
