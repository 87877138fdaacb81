"""What the API answers of a test that goes on."""

from __future__ import annotations

from typing import Any

OPEN: dict[str, Any] = {
    "question": 7, "venue": "9x9", "kind": "test", "owner": None, "version": "B", "against": ["A"], "asks": "?",
    "state": "open", "why": "", "asked_at": 0, "ended_at": None, "ends_at": None, "most_games": 100, "rated": False,
    "priority": 0, "scale": "nelo", "lower": 0.0, "upper": 50.0, "alpha": 0.05, "beta": 0.05, "within": None,
    "stands": "It goes on.", "waits": "", "running": 1, "superiority": None, "path": [], "text": "six\nlines",
    "answer": {
        "wins": 20, "draws": 0, "losses": 20, "counts": [0, 10, 0, 10, 0], "repeated": 0, "faults": {}, "llr": 1.2,
        "llr_lower": -2.944, "llr_upper": 2.944, "elo": 0.0, "lower": -9.0, "upper": 9.0, "normalized": 0.0,
        "normalized_lower": -9.0, "normalized_upper": 9.0, "superiority": 0.5, "games_left": 200.4, "hours_left": 1.0,
        "against": [],
    },
}  # fmt: skip
