"""Pages of questions: what owners and operators ask by games, and what the games say."""
