"""Makes the pictures of the pages for the documentation: a server, bots that really play, headless Chromium.

    python benchmarks/pages/screenshots.py docs/images

Every number in the pictures comes from games played during the run (some minutes). The server listens on loopback and
everything is stopped at the end.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.request import urlopen

import msgspec
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console

from benchmarks.reporting import CommandLine
from cgos_server.cli.server.demo import GNUGO_RULES

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
)
CONFIGURATION = """\
[server]
name = "cgos-server"
drain_limit_s = 1
[listen]
bots_host = "127.0.0.1"
next_free_port = true
[websocket]
host = "127.0.0.1"
[[venue]]
name = "9x9"
port = 6809
size = 9
komi = 7.0
time = { system = "absolute", main = "2m" }
pairing = { interval_s = 0.5, patience_s = 3.0, settle_s = 0.2 }
[[venue]]
name = "13x13"
port = 6813
size = 13
komi = 7.5
time = { system = "fischer", main = "3m", increment = "2s" }
pairing = { interval_s = 0.5, patience_s = 3.0, settle_s = 0.2 }
"""
NINE, THIRTEEN = ("--venue", "9x9"), ("--venue", "13x13")
BOTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Random", ("bot", "random", *NINE)),
    ("Greedy", ("bot", "greedy", *NINE, "--slots", "2")),
    ("Tree", ("bot", "mcts", "--playouts", "10", "--version", "1.0", *NINE)),
    ("Tree", ("bot", "mcts", "--playouts", "40", "--version", "1.1", "--param", "playouts=40", *NINE)),
    ("Tree", ("bot", "mcts", "--playouts", "120", "--version", "2.0", "--param", "playouts=120", *NINE)),
    ("Sapling", ("bot", "mcts", "--playouts", "60", "--slots", "2", *NINE)),
    ("Oak", ("bot", "mcts", "--playouts", "100", *THIRTEEN)),
    ("Elm", ("bot", "mcts", "--playouts", "60", *THIRTEEN)),
)
GNUGO = ("--mode", "gtp", "--level", "0", "--max-level", "0", *GNUGO_RULES)


EVENT = ("Autumn", "swiss", "--rounds", "5")
"""Of all versions in 9x9: the words that announce it."""


class Picture(NamedTuple):
    """One picture. `path` may use ``{game}``: an ended game in which both sides said what they thought."""

    name: str
    path: str
    scheme: Literal["light", "dark"] = "light"
    width: int = 1200
    height: int = 860
    signed_in: bool = False
    ready: str = "main"


PICTURES = (
    Picture("page-front", "/"),
    Picture("page-standings", "/venue/9x9"),
    Picture("page-bot", "/bot/Tree", height=1150),
    Picture("page-game", "/game/{game}?ply={ply}", height=980, ready="svg.board"),
    Picture("page-wall-dark", "/wall", scheme="dark", ready="svg.board"),
    Picture("page-admin", "/admin", signed_in=True),
    Picture("page-event", "/events/Autumn", height=1500),
    Picture("page-game-phone", "/game/{game}?ply={ply}", width=390, height=844, ready="svg.board"),
)


@contextlib.contextmanager
def child(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended with the block, in the end by force."""
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield process
    finally:
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            if process.poll() is None:
                process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)


def until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """The first true value of `condition`; `what` is said where there is none in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.5)
    raise SystemExit(f"After {seconds:.0f} s still: {what}")


class Run:
    """The server of one run, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "cgos.toml"
        self.config.write_text(CONFIGURATION)
        self.where = ("--config", str(self.config), "--data", str(folder / "data"))

    def command(self, *words: str, stdin: str | None = None) -> str:
        line = [sys.executable, "-m", "cgos_server", *words, *self.where]
        return subprocess.run(line, check=True, capture_output=True, text=True, input=stdin).stdout

    def status(self) -> dict[str, Any] | None:
        try:
            status_now: dict[str, Any] = msgspec.json.decode(self.command("status", "--json"))
        except subprocess.CalledProcessError:
            return None
        return status_now if status_now.get("web") else None

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(f"file:{self.folder / 'data' / 'cgos.sqlite'}?mode=ro", uri=True) as db:
            return db.execute(sql).fetchall()

    def finished_game(self) -> tuple[int, int] | None:
        """A long game that has ended in which both sides said what they thought, and a ply to show it at."""
        rows = self.ask(
            "SELECT g.id, g.plies FROM games g WHERE g.plies > 40 AND g.reason IN ('score', 'resignation') AND "
            "(SELECT count(*) FROM analysis a WHERE a.game_id = g.id) > 0.9 * g.plies ORDER BY g.id DESC LIMIT 1"
        )
        return (rows[0][0], rows[0][1] * 2 // 3) if rows else None

    def there(self) -> list[str]:
        """The versions that are signed in to 9x9."""
        bots = (self.status() or {"bots": []})["bots"]
        return sorted({bot["name"] for bot in bots if bot["venue"] == "9x9"})

    def hold_event(self) -> None:
        """With everybody who is there, from now on."""
        entered = [word for name in self.there() for word in ("--enter", name)]
        self.command("event", "create", *EVENT, "--venue", "9x9", *entered)
        self.command("event", "start", EVENT[0])


@contextlib.contextmanager
def playing(run: Run, bots: int) -> Iterator[dict[str, Any]]:
    """The server with its bots; its status."""
    folder = run.folder
    secret = folder / "bots.password"
    secret.write_text(secrets.token_hex(8) + "\n")
    with contextlib.ExitStack() as stack:
        serve = [sys.executable, "-m", "cgos_server", "serve", *run.where]
        stack.enter_context(child(serve, folder / "server.log"))
        status = until(run.status, 30, "the server does not answer")
        for number, (name, words) in enumerate(BOTS[:bots]):
            line = [sys.executable, "-m", "cgos_client", *words, "--server", status["websocket"], "--name", name]
            stack.enter_context(child([*line, "--password-file", str(secret)], folder / f"{name}-{number}.log"))
            time.sleep(0.5)  # the first of several versions registers the name
        gnugo = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")
        if gnugo and bots:
            line = [sys.executable, "-m", "cgos_client", "run", "--server", status["websocket"], "--name", "GnuGo"]
            line += [*NINE, "--password-file", str(secret), "--", gnugo, *GNUGO]
            stack.enter_context(child(line, folder / "gnugo.log"))
        yield status


def sign_in(page: Page, url: str, name: str, password: str) -> None:
    """By the form, as people do."""
    page.goto(f"{url}/sign-in")
    page.fill("main input[name=name]", name)
    page.fill("main input[name=password]", password)
    page.click("main form button")
    page.wait_for_url(f"{url}/**")


def take(browser: Browser, url: str, picture: Picture, words: dict[str, Any], target: Path) -> None:
    """One picture, with a palette of 128 colors."""
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height}, color_scheme=picture.scheme, locale="en-GB"
    )
    page = context.new_page()
    if picture.signed_in:
        sign_in(page, url, words["admin"], words["password"])
    page.goto(url + picture.path.format(**words))
    page.wait_for_selector(picture.ready)
    page.wait_for_timeout(1500)  # what comes by stream
    shot = target / f"{picture.name}.png"
    page.screenshot(path=shot)
    context.close()
    # A palette makes the files a third of the size, and nobody sees it.
    with Image.open(shot) as image:
        image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(shot, optimize=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, games=0, bots=0, only=["page-front"])
    parser.add_argument("target", type=Path, help="where the pictures are written")
    parser.add_argument("--games", type=int, default=60, help="take them when so many games have ended")
    parser.add_argument("--bots", type=int, default=len(BOTS), help="how many play")
    parser.add_argument("--only", nargs="*", choices=[picture.name for picture in PICTURES], help="take these alone")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    options = parser.read(words)
    wanted = [picture for picture in PICTURES if options.only is None or picture.name in options.only]
    options.target.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="cgos-pictures-") as name, console.status("starting") as shown:
        run = Run(Path(name))
        with playing(run, options.bots) as status:
            password = secrets.token_hex(8)
            if any(picture.signed_in for picture in wanted):
                run.command("account", "add", "Operator", stdin=password + "\n")
                run.command("account", "grant", "Operator", "admin")
            if any("/events/" in picture.path for picture in wanted):
                nine = sum(NINE[-1] in words for _, words in BOTS[: options.bots])
                until(lambda: len(run.there()) >= nine, 60, "not all bots are there")
                run.hold_event()

            def enough() -> bool:
                (ended,) = run.ask("SELECT count(*) FROM games WHERE result IS NOT NULL")[0]
                shown.update(f"{ended} of {options.games} games have ended")
                return bool(ended >= options.games and (run.finished_game() or not options.games))

            until(enough, 900, "too few games have ended")
            game, ply = run.finished_game() or (1, 0)
            place = {"game": game, "ply": ply, "admin": "Operator", "password": password}
            until(lambda: urlopen(status["web"]).status == 200, 20, "the pages do not answer")
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=options.chromium, args=list(ARGUMENTS))
                for picture in wanted:
                    shown.update(picture.name)
                    take(browser, status["web"], picture=picture, words=place, target=options.target)
                browser.close()
    for picture in wanted:
        file = options.target / f"{picture.name}.png"
        print(f"{file} {file.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
