"""Our order of pairing `dutch` is none of FIDE's systems, and no document or page says that it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cgos_server.tournaments.registry import SHORT, shown_name, system, systems

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", *sorted((ROOT / "cgos_server/web").rglob("*.html"))]
SAYS_NO = re.compile(r"\b(no|not|none|nothing|never)\b", re.IGNORECASE)


def told_of_fides_dutch(text: str) -> list[str]:
    """The sentences that have both words."""
    sentences = re.split(r"(?<=[.;:])\s+|\n\s*\n|\n- ", text)
    return [
        one for one in sentences if re.search("fide", one, re.IGNORECASE) and re.search("dutch", one, re.IGNORECASE)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_calls_our_dutch_fides(path: Path) -> None:
    for sentence in told_of_fides_dutch(path.read_text(encoding="utf-8")):
        assert SAYS_NO.search(sentence), sentence


def test_what_systems_say_of_themselves_does_not_either() -> None:
    for name in systems().names:
        for sentence in told_of_fides_dutch(type(system(name)).__doc__ or ""):
            assert SAYS_NO.search(sentence), sentence
        assert "FIDE" not in systems().find(name).about


def test_the_check_finds_what_it_looks_for() -> None:
    assert told_of_fides_dutch("It pairs by FIDE's Dutch.\n\nAll else is ours.") == ["It pairs by FIDE's Dutch."]


def test_orders_of_mwm_are_shown_as_such() -> None:
    assert shown_name("dutch") == "MWM dutch"
    assert shown_name("mwm", {"order": "burstein"}) == "MWM burstein"
    assert {name: shown_name(name) for name in SHORT if name.endswith(("double", "robin"))} == {
        "tcec-double": "tcec-double",
        "double-round-robin": "double-round-robin",
    }
    assert shown_name("swiss", {"method": "folding"}) == "swiss"
