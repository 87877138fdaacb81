"""Events as pages, commands and the API show them: messages made of an event's log and what it folds to."""
