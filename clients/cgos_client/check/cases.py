"""The cases of ``cgos-client check``: what an engine is put through, with the server's own rules as the judge.

Every case begins with a new game. A case returns what it saw, or raises Fault where a game would have been lost; an
engine that dies or hangs ends the case by EngineFailure. Must not know: the order of the cases, how findings look.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Iterable

from cgos_client.bots.engines import RandomBot
from cgos_client.bridge.engine import EngineFailure, NewGame
from cgos_client.bridge.gtp_engine import GtpEngine
from cgos_client.bridge.gtp_moves import MOVE_COMMANDS
from cgos_client.bridge.gtp_process import Refused
from cgos_client.bridge.gtp_time import KATA, KGS, PLAIN
from cgos_client.bridge.supervisor import SupervisedEngine
from cgos_client.check import positions as check_positions
from cgos_client.check.positions import Puzzle
from cgos_client.check.running import Case, Fault, Outcome, Trial
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.games.base import Color, Illegality, Ruleset
from cgos_protocol.games.go_rules import Go, GoPosition
from cgos_protocol.games.notation import vertex
from cgos_protocol.referee import Referee
from cgos_protocol.terms import Terms
from cgos_protocol.verdict import Reason, by_score

LEVEL_MS = 60_000
LAG_MS = 250
KOMI2 = 15
SECOND_US = 1_000_000
MOVES_A_POINT = 3
"""Moves for each point of the board after which a game is scored as it stands, as on servers."""
MS_A_POINT = 750
"""Clock of the long game for each point of the board, milliseconds a side."""

_REMEDIES = {
    Illegality.KO: "Switch on positional superko (GNU Go: --positional-superko; KataGo: koRule = POSITIONAL).",
    Illegality.SUICIDE: "Forbid suicide (GNU Go: --forbid-suicide; KataGo: multiStoneSuicideLegal = false).",
    Illegality.OCCUPIED: "Its board is not the server's: look whether it takes every 'play' and 'clear_board'.",
}
_REFUSED = "Its rules are not the server's: positional superko, no suicide; otherwise any empty point may be played."


class Board:
    """The engine's board, and the referee's beside it."""

    def __init__(self, engine: GtpEngine, size: int, komi2: int = KOMI2) -> None:
        self.engine = engine
        self.size = size
        self.komi2 = komi2
        self.position: GoPosition = Go().new(Ruleset(size=size, komi2=komi2))

    async def begin(self, moves: Iterable[str] = (), level_ms: int = LEVEL_MS) -> Board:
        """A new game in which `moves` were made already."""
        await self.engine.new_game(NewGame(self.size, self.komi2, level_ms))
        for move in moves:
            await self.play(move)
        return self

    async def play(self, move: str) -> None:
        """A legal move of the side to move."""
        color = self.position.to_play
        try:
            await self.engine.play(color, move)
        except Refused as refused:
            raise Fault(f"It refused a legal move, {color.letter} {move} ({refused}).", _REFUSED) from None
        self.refuses(move)

    async def genmove(self, left_ms: int = LEVEL_MS) -> str:
        """The engine's move, found legal, or ``RESIGN``."""
        color = self.position.to_play
        move = (await self.engine.genmove(color, left_ms)).text
        if move != "RESIGN":
            reason = self.refuses(move)
            if reason is not None:
                raise Fault(
                    f"It answered 'genmove {color.letter}' with {move}: {reason}. The server ends the game there, "
                    f"{color.other.letter.upper()}+Illegal.",
                    _REMEDIES.get(reason, _REMEDIES[Illegality.OCCUPIED]),
                )
        return move

    def refuses(self, move: str) -> Illegality | None:
        """Make a move for the side to move on the referee's board alone: why that is not possible, or None."""
        code = self.position.read(move)
        return Illegality.SYNTAX if code is None else self.position.play(code)


async def start(trial: Trial) -> Outcome:
    """What the engine lists, as the client found it."""
    listed = trial.engine.commands
    if "komi" not in listed:
        return Outcome(
            f"{trial.engine.label} has started. It does not list komi, so that it counts with a komi of its own.",
            "Set the server's komi on its command line.",
        )
    return Outcome(f"{trial.engine.label} has started and lists what a game needs.")


async def board(trial: Trial) -> Outcome:
    """Size, corners, both colors, an empty board again."""
    size, last = trial.size, trial.size - 1
    corners = [vertex(0, last), vertex(last, 0), vertex(0, 0), vertex(last, last)]
    for _ in range(2):
        played = await Board(trial.engine, size).begin(corners)
        await played.genmove()
    return Outcome(f"It plays on {size}x{size}, takes komi and clears its board.")


async def unknown_command(trial: Trial) -> Outcome:
    """What the engine does not know has to be refused, not to hang or to be taken for something else."""
    try:
        await trial.engine.ask("cgos-no_such_command 1")
    except Refused:
        return Outcome("It answers an unknown command with '?'.")
    return Outcome(
        "It answers an unknown command with '=', as if it had understood.", "Let it answer '? unknown command'."
    )


async def time_commands(trial: Trial) -> Outcome:
    """Every time system, in the words that the engine lists; what it refuses the client warns of."""
    controls = (
        TimeControl(system=TimeSystem.ABSOLUTE, main=300 * SECOND_US),
        TimeControl(system=TimeSystem.FISCHER, main=60 * SECOND_US, increment=2 * SECOND_US),
        TimeControl(system=TimeSystem.BYOYOMI, main=60 * SECOND_US, period=10 * SECOND_US, periods=3),
        TimeControl(system=TimeSystem.CANADIAN, main=60 * SECOND_US, period=60 * SECOND_US, stones=10),
        TimeControl(system=TimeSystem.FIXED, period=2 * SECOND_US),
    )
    for control in controls:
        await trial.engine.new_game(NewGame(trial.size, KOMI2, LEVEL_MS, time=control))
    listed = trial.engine.commands
    settings = [name for name in (PLAIN, KGS, KATA) if name in listed]
    if "time_left" not in listed or not settings:
        missing = [*(["time_left"] if "time_left" not in listed else []), *([] if settings else [PLAIN])]
        return Outcome(
            f"It does not list {' and '.join(missing)}, so that it plays without knowing its clock.",
            "Set its time for a move, or its playouts, on its command line, well below what the venue allows.",
        )
    for figures in ("300 0", "30 5", "0 1"):
        for color in "bw":
            await trial.engine.ask(f"time_left {color} {figures}")
    return Outcome(f"It is told of its clock by {', '.join(settings)} and time_left.")


async def ko(trial: Trial) -> Outcome:
    """An ordinary ko: legal fights are accepted, taking back at once is not done."""
    await Board(trial.engine, trial.size).begin(check_positions.ko_fight(trial.size))
    await _tempted(trial, check_positions.simple_ko())
    return Outcome("It follows a ko fight and does not take back at once.")


async def superko(trial: Trial) -> Outcome:
    """A repetition that only superko forbids."""
    await Board(trial.engine, trial.size).begin(check_positions.after_superko(trial.size))
    puzzle = check_positions.superko(trial.size)
    move = await _tempted(trial, puzzle)
    return Outcome(f"Where {puzzle.point} would repeat the position it answers {move}.")


async def _tempted(trial: Trial, puzzle: Puzzle) -> str:
    """The engine's move where one point is forbidden, found legal."""
    tempted = await Board(trial.engine, trial.size, puzzle.komi2).begin(puzzle.moves)
    return await tempted.genmove()


async def passes(trial: Trial) -> Outcome:
    """Passes are heard, and a game after two of them is a new one."""
    passed = await Board(trial.engine, trial.size).begin(["C3", "PASS"])
    await passed.genmove()
    await Board(trial.engine, trial.size).begin(["C3", "PASS", "PASS"])
    again = await Board(trial.engine, trial.size).begin()
    move = await again.genmove()
    if move == "RESIGN":
        raise Fault(
            "In a new game after two passes it resigned at once: it has not noticed that the board is empty.",
            "Let clear_board begin a new game, whatever came before.",
        )
    return Outcome("It hears passes, and begins a new game after two of them.")


async def resume(trial: Trial) -> Outcome:
    """A game that goes on after a lost connection is replayed from its first move."""
    loop = asyncio.get_running_loop()
    moves = _random_game(trial.size, trial.size * trial.size * 2 // 3)
    seconds = 0.0
    for length in (len(moves) // 2, len(moves)):
        began = loop.time()
        replayed = await Board(trial.engine, trial.size).begin(moves[:length])
        seconds = loop.time() - began
        await replayed.genmove()
    sentence = f"{len(moves)} moves are replayed to it in {seconds:.1f} s and it goes on from there."
    if seconds > 5:
        return Outcome(sentence, "Its clock runs on meanwhile: make 'play' and 'boardsize' quicker.")
    return Outcome(sentence)


async def short_of_time(trial: Trial) -> Outcome:
    """A few seconds left in the middle of the game."""
    loop = asyncio.get_running_loop()
    moves = _random_game(trial.size, trial.size * 2)
    taken: list[str] = []
    for left_ms in (5000, 1000):
        hurried = await Board(trial.engine, trial.size).begin(moves)
        began = loop.time()
        await hurried.genmove(left_ms)
        seconds = loop.time() - began
        taken.append(f"{seconds:.1f} s of {left_ms // 1000} s")
        if seconds > (left_ms + LAG_MS) / 1000:
            raise Fault(
                f"With {left_ms / 1000:g} s left for the game it thought for {seconds:.1f} s and would have lost on "
                "time.",
                "Let it obey time_left, or give it a time for a move on its command line that fits the venue.",
            )
    return Outcome(f"Short of time it used {' and '.join(taken)}.")


async def analysis(trial: Trial) -> Outcome:
    """Every way of asking for a move with analysis that the engine lists."""
    listed = [way for way in MOVE_COMMANDS if way.analyses and way.command in trial.engine.commands]
    if not listed:
        return Outcome("It lists no genmove_analyze command, so that its moves come without analysis; that is allowed.")
    sentences: list[str] = []
    problems: list[str] = []
    for way in listed:
        trial.progress(way.command)
        begun = await Board(trial.engine, trial.size).begin(["C3", "D4"])
        try:
            answer = await trial.engine.ask(way.line("b"))
        except Refused as refused:
            problems.append(f"{str(refused)[:1].upper()}{str(refused)[1:]}.")
            continue
        choice = way.read(answer, trial.size)
        if choice is None:
            problems.append(f"{way.command} brings no 'play <move>'.")
        elif choice.move != "RESIGN" and begun.refuses(choice.move):
            raise Fault(f"{way.command} chose {choice.move}, which is illegal.", _REFUSED)
        elif choice.remark or choice.analysis is None:
            problems.append(f"The answer to {way.command} {choice.remark or 'holds no analysis'}.")
        else:
            sentences.append(f"{way.command} brings {len(choice.analysis)} characters of analysis.")
    if problems:
        remedy = "Such an analysis is left out; the move counts. Compare the format."
        return Outcome(" ".join(problems + sentences), remedy)
    return Outcome(" ".join(sentences))


async def dead_stones(trial: Trial) -> Outcome:
    """The opponent has passed and a dead stone is on the board: it has to come off before the engine passes."""
    puzzle = check_positions.dead_stone(trial.size)
    ending = await Board(trial.engine, trial.size, puzzle.komi2).begin(puzzle.moves)
    while not ending.position.is_over() and ending.position.ply < len(puzzle.moves) + 6 * trial.size:
        move = await ending.genmove()
        if move == "RESIGN":
            return Outcome(
                "It resigned a game that it wins by taking off a dead stone.",
                "Tell it to play on until all is settled.",
            )
        if not ending.position.is_over():
            await ending.play("PASS")
    counted = _counted(ending.position.score())
    if ending.position.score() > 0:
        return Outcome(
            f"It passed with a dead stone at {puzzle.point} on the board. The server takes all stones for alive: "
            f"{counted}, a won game lost.",
            "Tell it to capture before it passes (GNU Go: --capture-all-dead; KataGo: friendlyPassOk = false and "
            "Tromp-Taylor counting; others: no friendly pass, no cleanup).",
        )
    return Outcome(f"It takes a dead stone off before it passes; the server counts {counted}.")


async def long_game(trial: Trial) -> Outcome:
    """The engine against itself to the end, with a clock, every move judged."""
    engine, size = trial.engine, trial.size
    level_ms = MS_A_POINT * size * size
    terms = Terms(
        rules=Ruleset(size=size, komi2=KOMI2),
        time=TimeControl(system=TimeSystem.ABSOLUTE, main=level_ms * 1000),
        move_limit=int(MOVES_A_POINT * size * size),
        first_move_limit=level_ms * 1000,
    )
    referee = Referee(terms)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await engine.new_game(NewGame(size, KOMI2, level_ms))
    while referee.verdict is None:
        trial.progress(f"move {referee.ply + 1} of at most {terms.move_limit}, {loop.time() - began:.0f} s")
        move_began = loop.time()
        move = await engine.genmove(referee.to_play, referee.remaining_ms(referee.to_play))
        referee.submit(move.text, int((loop.time() - move_began) * SECOND_US))
    verdict = referee.verdict
    game = f"A game against itself on {size}x{size} of {referee.ply} moves, {level_ms // 1000} s a side,"
    match verdict.reason:
        case Reason.ILLEGAL:
            reason = next((kind for kind in _REMEDIES if verdict.detail.startswith(kind)), Illegality.OCCUPIED)
            raise Fault(f"{game} ended {verdict.text}: {verdict.detail}.", _REMEDIES[reason])
        case Reason.TIME | Reason.ABORT:  # too late with its first move, a game is not lost but void
            sentence = f"{game} ended {verdict.text}: it needs more time than that."
            remedy = "Play it only where the clock is longer, or make it faster."
            if "time_left" in engine.commands:
                raise Fault(sentence, f"It lists time_left but does not keep within it. {remedy}")
            return Outcome(sentence, remedy)
        case Reason.RESIGNATION:
            return Outcome(f"{game} ended {verdict.text}; every move was legal.")
    if verdict.detail:
        return Outcome(
            f"{game} was still going on and was {verdict.detail}: {verdict.text}.",
            "Let it pass when nothing is to be gained any more.",
        )
    return await _compared(trial, f"{game} ended {verdict.text}; every move was legal.", referee.position.score())


async def _compared(trial: Trial, sentence: str, margin2: int) -> Outcome:
    """The server's count beside the engine's own, where it has one."""
    if "final_score" not in trial.engine.commands:
        return Outcome(sentence)
    trial.progress("the engine counts")
    try:
        own = _margin2(" ".join(await trial.engine.ask("final_score")))
    except Refused:
        own = None
    if own is None or abs(own - margin2) < 6:
        return Outcome(sentence)
    return Outcome(
        f"{sentence} It takes that for {_counted(own)}: dead stones were left on the board, which the server counts as "
        "alive, or it counts by other rules.",
        "Tell it to capture before it passes, and to count by area.",
    )


async def killed(trial: Trial) -> Outcome:
    """The process is ended in the middle of a game; the client starts it again and the game goes on."""
    loop = asyncio.get_running_loop()
    running: list[GtpEngine] = []

    def make() -> GtpEngine:
        running.append(trial.make())
        return running[-1]

    supervised = SupervisedEngine(make=make)
    moves = _random_game(trial.size, 6)
    judge = Board(trial.engine, trial.size)
    for move in moves:
        judge.refuses(move)
    try:
        await supervised.start()
        await supervised.sit(NewGame(trial.size, KOMI2, LEVEL_MS), moves)
        pid = running[-1].pid
        if pid is not None:
            os.killpg(pid, signal.SIGKILL)  # a group of its own, and a child of this process: no other can be hit
        began = loop.time()
        move = (await supervised.genmove(judge.position.to_play, LEVEL_MS)).text
        seconds = loop.time() - began
    finally:
        await supervised.close()
    if len(running) < 2 or move == "RESIGN":
        raise EngineFailure("after its process had been ended the engine could not be brought to make a move")
    if judge.refuses(move) is not None:
        raise Fault(f"Started again after its process had been ended, it answered {move}, which is illegal.", _REFUSED)
    sentence = f"After its process was ended it was back with a move in {seconds:.1f} s."
    remedy = "Its clock runs meanwhile: a crash costs that much. Make it load faster." if seconds > 30 else ""
    return Outcome(sentence, remedy, foreseen="ended by signal 9")


CASES: tuple[tuple[str, Case], ...] = (
    ("start", start),
    ("unknown command", unknown_command),
    ("board", board),
    ("time commands", time_commands),
    ("ko", ko),
    ("superko", superko),
    ("two passes", passes),
    ("resume", resume),
    ("short of time", short_of_time),
    ("analysis", analysis),
    ("dead stones", dead_stones),
    ("long game", long_game),
    ("killed", killed),
)
"""All cases, those that say most about the others first."""


def _random_game(size: int, length: int) -> list[str]:
    """The first moves of a game of random moves, always the same."""
    bot = RandomBot(random.Random(size))
    bot.new_game(size, KOMI2)
    return [bot.genmove(Color(ply % 2), LEVEL_MS) for ply in range(length)]


def _counted(margin2: int) -> str:
    return by_score(margin2).text if margin2 else "a draw"


def _margin2(text: str) -> int | None:
    """``B+3.5``, ``W+12``, ``0`` as Black's margin in half points."""
    winner, _, figure = text.strip().upper().partition("+")
    if winner == "0":
        return 0
    try:
        return round(2 * float(figure)) * (1 if winner == "B" else -1) if winner in ("B", "W") else None
    except (ValueError, OverflowError):
        return None
