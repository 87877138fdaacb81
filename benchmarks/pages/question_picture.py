"""The picture of docs/questions.md: a test's log-likelihood ratio pair by pair, as a question's page draws it.

The results of pairs are drawn by lot, of a version that is stronger by so many logistic Elo. Writes an SVG.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.reporting import CommandLine
from cgos_server.core.sequential import Hypotheses, first_decision, log_likelihood_ratios, pair_distribution
from cgos_server.presentation.pictures.question_pictures import llr_svg

HYPOTHESES = Hypotheses(lower=0, upper=50)
MOST_PAIRS = 2_000


def picture(difference: float = 40.0, draws: float = 0.1, seed: int = 23) -> str:
    """The picture of a test that ends.

    :param difference: logistic Elo
    :param draws: share of games between equals that are drawn
    """
    shares = pair_distribution(difference, draws=draws)
    results = np.random.default_rng(seed).choice(5, size=MOST_PAIRS, p=np.array(shares) / sum(shares))
    pairs = first_decision(list(results), 5, HYPOTHESES) or MOST_PAIRS
    counts = np.cumsum(np.eye(5)[results[:pairs]], axis=0)
    path = [(0, 0.0), *enumerate(map(float, log_likelihood_ratios(counts, HYPOTHESES)), 1)]
    title = f"A test of {HYPOTHESES.lower:g} and {HYPOTHESES.upper:g} normalized Elo"
    return llr_svg(path, HYPOTHESES.reject_at, HYPOTHESES.accept_at, title=title, inline=False)


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/images/question.svg"))
    parser.read(words).output.write_text(picture(), "utf-8")


if __name__ == "__main__":
    main()
