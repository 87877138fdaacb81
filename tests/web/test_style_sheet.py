"""The style sheet's colors, by day and by night; no class that nobody bears."""

from __future__ import annotations

import re

from cgos_server.web.application import STATIC

SHEET = (STATIC / "style.css").read_text(encoding="utf-8")


_TWO = re.compile(r"--([\w-]+): var\(--day, (#\w+)\) var\(--night, (#\w+)\);")
PAIRS = {name: (day, night) for name, day, night in _TWO.findall(SHEET)}
"""Color -> by day, by night."""


def test_every_color_is_said_for_day_and_night_in_words_that_old_browsers_know() -> None:
    assert len(PAIRS) == SHEET.count("var(--day, #") == SHEET.count("var(--night, #")
    assert ": light-dark(" not in SHEET
    switches = re.findall(r"--day: (\w*);\s*--night: (\w*);", SHEET)
    assert switches == [("initial", ""), ("", "initial"), ("", "initial")], "the one or the other, never both"


def contrast(first: str, second: str) -> float:
    """Of two colors, 1..21 (WCAG 2.2, relative luminance)."""

    def luminance(color: str) -> float:
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_text_can_be_read_on_every_ground_by_day_and_by_night() -> None:
    for scheme in (0, 1):
        for ink in ("ink", "soft", "accent", "good", "bad"):
            for ground in ("paper", "raised", "stripe"):
                assert contrast(PAIRS[ink][scheme], PAIRS[ground][scheme]) >= 4.5, (ink, ground, scheme)
        for ground in ("paper", "raised"):
            assert contrast(PAIRS["edge-of-field"][scheme], PAIRS[ground][scheme]) >= 3, (ground, scheme)


def mixed(color: str, share: float, into: str) -> str:
    """As ``color-mix(in srgb, one share, other)``."""
    parts = [(int(color[at : at + 2], 16), int(into[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(share * first + (1 - share) * second):02x}" for first, second in parts)


def test_numbers_can_be_read_on_every_shade() -> None:
    shades = re.findall(r"color-mix\(in srgb, var\(--(\w+)\) (\d+)%, var\(--(\w+)\)\)", SHEET)
    assert len(shades) >= 10
    for color, share, ground in shades:
        for scheme in (0, 1):
            shade = mixed(PAIRS[color][scheme], int(share) / 100, PAIRS[ground][scheme])
            assert contrast(PAIRS["ink"][scheme], shade) >= 4.5, (color, share, scheme)


def borne() -> set[str]:
    """Words that may be an element's class: in quotes, in a template, a script or what draws."""
    words = set()
    for path in (*STATIC.parent.rglob("*"), *STATIC.parents[1].joinpath("presentation").rglob("*")):
        if path.suffix in (".html", ".js", ".py"):
            text = re.sub(r'"""(?s:.*?)"""', " ", path.read_text(encoding="utf-8"))
            for quoted in re.findall(r"""["'`]([^"'`\n]{1,200})""", text):
                words |= set(re.findall(r"[a-z][\w-]*{?", quoted))
    return words


def test_no_class_is_dressed_that_nothing_bears() -> None:
    selectors = re.sub(r"/\*.*?\*/|{[^{}]*}", " ", SHEET, flags=re.DOTALL)
    dressed = set(re.findall(r"\.([a-z][\w-]*)", selectors))
    words = borne()
    assert {name for name in dressed - words if name.rstrip("0123456789") + "{" not in words} == set()
