"""Pictures of a pool of anybody's results."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import pytest

from cgos_protocol.errors import Refused
from cgos_server.core.rating import BradleyTerry
from cgos_server.lab.ratings import pool_pictures
from cgos_server.lab.ratings.pool_pictures import MOST_COMPARED, MOST_RATINGS, pictures, plot
from cgos_server.lab.report import Chart, Heat


def chain(length: int) -> BradleyTerry:
    pool = BradleyTerry(learned=False)
    for at in range(length - 1):
        pool.beat(f"P{at}", f"P{at + 1}", games=2)
        pool.beat(f"P{at + 1}", f"P{at}")
    return pool


def test_the_example_is_true() -> None:
    assert doctest.testmod(pool_pictures).failed == 0


def test_ratings_and_superiority() -> None:
    pool = chain(3)
    ratings, compared = pictures(pool)
    assert isinstance(ratings, Chart)
    assert isinstance(compared, Heat)
    assert ratings.names == tuple(pool.standings())
    (line,) = ratings.lines
    assert line.low[0] < line.y[0] < line.high[0]
    assert compared.values[0][0] is None
    first, second = list(pool.standings())[:2]
    assert compared.values[0][1] == pytest.approx(pool.superiority(first, second))


def test_groups_that_never_met_are_told_under_the_ratings() -> None:
    pool = chain(3)
    pool.beat("x", "y")
    ratings = pictures(pool)[0]
    assert isinstance(ratings, Chart)
    assert ratings.x_label.startswith("No chain of games joins the 2 groups of names (sizes 3, 2)")


def test_only_the_strongest_are_drawn() -> None:
    ratings, compared = pictures(chain(50))
    assert isinstance(ratings, Chart)
    assert isinstance(compared, Heat)
    assert (len(ratings.names), len(compared.rows)) == (MOST_RATINGS, MOST_COMPARED)
    assert f"first {MOST_RATINGS} of 50" in ratings.title


def test_one_name_has_nobody_to_be_compared_with_and_none_no_picture() -> None:
    pool = BradleyTerry()
    assert pictures(pool) == ()
    pool.anchor("$x$", 1500)
    (ratings,) = pictures(pool)
    assert isinstance(ratings, Chart)
    assert ratings.names == (r"\$x\$",)


def test_without_matplotlib_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Refused, match=r"matplotlib, which is not installed: pip install 'cgos-server\[lab\]'"):
        plot(chain(2), tmp_path / "pool.svg")


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot(chain(3), tmp_path / "pool.svg")
    assert "P1" in (tmp_path / "pool.svg").read_text()
