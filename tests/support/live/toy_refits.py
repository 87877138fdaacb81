"""Refits that a child process can compute in no time, or not at all."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class ToyFit:
    """What a refit found."""

    included: int
    cold: bool
    notes: str
    result: Any


class ToyRefits:
    """Computes what the job says: a sum of an array, a failure, a death, a long wait."""

    name = "toy"

    def refit(self, job: dict[str, Any]) -> ToyFit:
        match job["do"]:
            case "fail":
                raise ArithmeticError("this refit cannot be computed")
            case "die":
                os._exit(3)
            case "wait":
                time.sleep(job["seconds"])
            case "print":
                print("words that must not get between the answers")
        return ToyFit(
            included=job.get("included", 0),
            cold=False,
            notes=f"pid {os.getpid()}",
            result=np.asarray(job.get("array", [0.0])) * 2,
        )
