"""Use cases of questions: what owners and operators ask by games."""
