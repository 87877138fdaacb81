"""The style sheet's colours in browsers that know light-dark() and in those that do not."""

from __future__ import annotations

import re

from cgos_server.web.application import STATIC

SHEET = (STATIC / "style.css").read_text(encoding="utf-8")


def values(block: str) -> dict[str, str]:
    """Variable -> colour."""
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]+);", block))


def test_older_browsers_get_the_same_colours() -> None:
    pairs = re.findall(r"(--[\w-]+): light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\);", SHEET)
    assert len(pairs) == SHEET.count(": light-dark(") - 1  # the condition of the fallback itself
    _, fallback = SHEET.split("@supports not (color: light-dark(#000, #fff)) {")
    light, dark, chosen = re.findall(r":root[^{]*{([^{}]*)}", fallback)
    assert values(light) == {name: day for name, day, _ in pairs}
    assert values(dark) == values(chosen) == {name: night for name, _, night in pairs}


def contrast(one: str, other: str) -> float:
    """Of two colours, 1..21 (WCAG 2.2, relative luminance)."""

    def luminance(color: str) -> float:
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_can_be_read_on_every_ground_by_day_and_by_night() -> None:
    pairs = {name: (day, night) for name, day, night in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);", SHEET)}
    for scheme in (0, 1):
        for ink in ("ink", "soft", "accent", "good", "bad"):
            for ground in ("paper", "raised", "stripe"):
                assert contrast(pairs[ink][scheme], pairs[ground][scheme]) >= 4.5, (ink, ground, scheme)
        for ground in ("paper", "raised"):
            assert contrast(pairs["edge-of-field"][scheme], pairs[ground][scheme]) >= 3, (ground, scheme)
