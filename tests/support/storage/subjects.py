"""The read side of a store in memory: `store.history.games.untold(...)` is answered by its method `games_untold`."""

from __future__ import annotations

from typing import Any


class Subjects:
    """In the place of a :class:`cgos_server.storage.reading.history.History`.

    :param answers: has a method for each question that is asked, called by subject and question
    """

    def __init__(self, answers: object) -> None:
        self._answers = answers

    def forget_names(self) -> None:
        """It keeps none."""

    def __getattr__(self, subject: str) -> Any:
        return _Subject(self._answers, subject)


class _Subject:
    def __init__(self, answers: object, subject: str) -> None:
        self._answers = answers
        self._subject = subject

    def __getattr__(self, question: str) -> Any:
        return getattr(self._answers, f"{self._subject}_{question}")
