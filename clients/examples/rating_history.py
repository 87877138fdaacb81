"""Draws how a version's rating came about: the curve with its 95 % band and every game as a dot, as an SVG file.

    python rating_history.py http://127.0.0.1:8080 9x9 NAME history.svg

Cells begin with # %%, so that it also runs piece by piece as a notebook. Needs nothing but cgos-client.
"""

# %% What to draw
import sys
from datetime import UTC, datetime
from html import escape

from cgos_client import api
from cgos_protocol.intervals import written

if len(sys.argv) != 5:
    sys.exit(__doc__)
address, venue, version, target = sys.argv[1:]
server = api.Server(address)

# %% Every change of the rating, oldest first
changes = list(server.history(version, venue=venue))
if not changes:
    sys.exit(f"{version} has no rating in {venue} yet.")
first, last = changes[0], changes[-1]
games = [change for change in changes if change.opponent is not None]
now = written(last.after_mean, last.after_lower, last.after_upper)
print(f"{version} in {venue}: {len(changes)} changes, {len(games)} games, now {now}")

# %% Where a moment and a rating lie in the picture
WIDTH, HEIGHT, LEFT, BOTTOM = 900, 420, 60, 380
lows = [change.after_mean if change.after_lower is None else change.after_lower for change in changes]
highs = [change.after_mean if change.after_upper is None else change.after_upper for change in changes]
low, high = min(lows) - 20, max(highs) + 20
span = max(1, last.at - first.at)


def x(at: int) -> float:
    """Pixels from the left, of a time in Unix milliseconds."""
    return LEFT + (WIDTH - LEFT - 20) * (at - first.at) / span


def y(rating: float) -> float:
    """Pixels from above, of a rating."""
    return BOTTOM - (BOTTOM - 40) * (rating - low) / (high - low)


# %% Band, curve, games, axes
upper = [f"{x(change.at):.1f},{y(end):.1f}" for change, end in zip(changes, highs, strict=True)]
lower = [f"{x(change.at):.1f},{y(end):.1f}" for change, end in zip(changes, lows, strict=True)]
curve = " ".join(f"{x(c.at):.1f},{y(c.after_mean):.1f}" for c in changes)
colors = {1.0: "#2c6e49", 0.5: "#8a5a00", 0.0: "#a4243b"}
parts = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
    f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    f'<text x="{LEFT}" y="24" font-size="17">{escape(f"{version} in {venue}: {now}")}</text>',
    f'<polygon points="{" ".join(upper + lower[::-1])}" fill="#3a6ea5" fill-opacity="0.18"/>',
    f'<polyline points="{curve}" fill="none" stroke="#3a6ea5" stroke-width="2"/>',
]
for change in games:
    words = f"game {change.game} against {change.opponent}: {change.before_mean:.0f} to {change.after_mean:.0f}"
    fill = colors.get(1.0 if change.score is None else change.score, "#777")
    parts.append(
        f'<circle cx="{x(change.at):.1f}" cy="{y(change.after_mean):.1f}" r="3" fill="{fill}">'
        f"<title>{escape(words)}</title></circle>"
    )
step = 50 if high - low < 500 else 200
for rating in range(int(low // step + 1) * step, int(high) + 1, step):
    parts.append(f'<text x="{LEFT - 8}" y="{y(rating) + 4:.1f}" text-anchor="end" fill="#555">{rating}</text>')
    parts.append(f'<path d="M{LEFT} {y(rating):.1f}H{WIDTH - 20}" stroke="#ddd"/>')
for change, anchor in ((first, "start"), (last, "end")):
    day = datetime.fromtimestamp(change.at / 1000, UTC).strftime("%Y-%m-%d")
    parts.append(f'<text x="{x(change.at):.1f}" y="{BOTTOM + 24}" text-anchor="{anchor}" fill="#555">{day}</text>')
parts.append("</svg>\n")

# %% The file
with open(target, "w", encoding="utf-8") as file:
    file.write("\n".join(parts))
print(f"drawn in {target}")
