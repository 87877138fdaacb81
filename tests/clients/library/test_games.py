"""The library's state machine against a strict model server: cuts at any boundary change nothing of a game."""

from __future__ import annotations

import random
import zlib
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.clients.v2_model import Link, Model, ModelGame

from cgos_client.errors import Dismissed, MoveRefused, ServerFault, SignInRefused
from cgos_client.library import games as core
from cgos_client.library.position import ruleset
from cgos_protocol.games.go_rules import Go, GoPosition
from cgos_protocol.v2 import messages as ws

SIGN_IN = ws.SignIn(bot="Bot", secret="sesame", venues=["5x5"])


def choice(game: int, moves: list[str], board: GoPosition) -> str:
    """A legal move that depends on nothing but the game so far."""
    rng = random.Random(zlib.crc32(f"{game} {' '.join(moves)}".encode()))
    points = [point for point in board.empties() if not board.is_eye(board.to_play, point)]
    rng.shuffle(points)
    legal = next((point for point in points if board.copy().play(point) is None), None)
    return "pass" if legal is None or len(moves) > 60 else board.write(legal)


def house(game: ModelGame) -> str:
    return choice(game.number, game.texts, game.referee.position)


def board_of(state: core.GameState) -> GoPosition:
    board = Go().new(ruleset(state.start.rules))
    for ply in state.moves:
        assert board.play(board.read(ply.move)) is None
    return board


class Bench:
    """A client and a model server with a wire between them that can be cut, message by message."""

    def __init__(self, model: Model, sign_in: ws.SignIn = SIGN_IN, second_thoughts: random.Random | None = None):
        self.model = model
        self.client = core.Games(sign_in=sign_in)
        self.to_server: deque[ws.ClientMessage] = deque()
        self.to_client: deque[ws.ServerMessage] = deque()
        self.requests: deque[tuple[int, int]] = deque()
        self.began: list[int] = []
        self.ended: dict[int, core.Outcome] = {}
        self.records: dict[int, list[str]] = {}
        self.finished = False
        self.second_thoughts = second_thoughts
        self.link: Link | None = None
        self.cuts = 0

    def connect(self) -> None:
        self.link = Link(self.model, self.to_client.append)
        self.link.open()

    def cut(self) -> None:
        """Everything under way is lost."""
        if self.link is not None:
            self.link.lost()
        self.link = None
        self.to_server.clear()
        self.to_client.clear()
        self.client.lost()
        self.cuts += 1

    def do(self, effects: list[core.Effect]) -> None:
        for effect in effects:
            match effect:
                case core.Send(message):
                    if self.link is not None:
                        self.to_server.append(message)
                case core.Began(game):
                    assert game not in self.began, "a game begins once"
                    self.began.append(game)
                case core.TurnGiven(game, ply):
                    self.requests.append((game, ply))
                case core.Ended(game):
                    state = self.client.seats[game]
                    assert game not in self.ended, "a game ends once"
                    self.ended[game] = state.outcome
                    self.records[game] = [ply.move for ply in state.moves]
                    self.client.retire(game)
                case core.Finished():
                    self.finished = True
                case core.Fatal(error):
                    raise error

    def answer(self) -> None:
        """The bot answers what it was asked first."""
        game, ply = self.requests.popleft()
        state = self.client.seats.get(game)
        if state is None or state.open_turn != ply:
            return
        moves = [move.move for move in state.moves]
        text = choice(game, moves, board_of(state))
        if self.second_thoughts is not None:
            board = board_of(state)
            legal = [board.write(p) for p in board.empties() if board.copy().play(p) is None] or ["pass"]
            text = self.second_thoughts.choice(legal) if len(moves) < 60 else "pass"
        taken, effects = self.client.choose(game, ply, text)
        assert taken
        self.do(effects)

    def step(self, word: int) -> None:
        """One thing happens: something is delivered, or the bot answers."""
        ways = []
        if self.to_server:
            ways.append(lambda: self.link.hear(self.to_server.popleft()))
        if self.to_client:
            ways.append(lambda: self.do(self.client.receive(self.to_client.popleft())))
        if self.requests:
            ways.append(self.answer)
        ways[word % len(ways)]()

    @property
    def idle(self) -> bool:
        return not (self.to_server or self.to_client or self.requests)

    def run(self, words, cut_at=lambda _: False, limit: int = 4000) -> None:
        """Until nothing moves any more."""
        self.connect()
        for step in range(limit):
            if cut_at(step):
                self.cut()
                self.connect()
            if self.idle:
                return
            self.step(next(words))
        raise AssertionError("it does not end")


def uncut(games: int = 1, sign_in: ws.SignIn = SIGN_IN) -> Model:
    model = Model(opponent=house, games=games)
    bench = Bench(model, sign_in)
    bench.run(iter(lambda: 0, 1))
    assert len(bench.ended) == games
    return model


@pytest.fixture(scope="module")
def whole() -> Model:
    return uncut()


def test_a_game_without_cuts(whole):
    game = whole.games[1]
    assert game.over is not None
    assert len(game.moves) > 10
    assert whole.seen_games == [1]
    assert game.unseen == set()


def test_a_cut_at_every_boundary(whole):
    """One run for each message of the game, cut just there."""
    boundary, reached = 0, True
    while reached:
        model = Model(opponent=house)
        bench = Bench(model)
        at = boundary
        bench.run(iter(lambda: 0, 1), lambda step, at=at: step == at)
        reached = bench.cuts == 1
        assert model.games[1].texts == whole.games[1].texts, f"cut at {at}"
        assert bench.records[1] == whole.games[1].texts
        assert bench.ended[1].result == whole.games[1].over.result
        boundary += 1
    assert boundary > len(whole.games[1].moves), "three messages for each of the bot's moves"


@settings(max_examples=150, deadline=None)
@given(words=st.integers(0, 2**32), cuts=st.sets(st.integers(0, 300), max_size=60))
def test_many_cuts_in_any_order_of_delivery(words, cuts, whole):
    model = Model(opponent=house)
    rng = random.Random(words)
    bench = Bench(model)
    bench.run(iter(lambda: rng.randrange(6), None), lambda step: step in cuts)
    assert model.games[1].texts == whole.games[1].texts
    assert bench.records == {1: whole.games[1].texts}
    assert bench.ended[1].result == whole.games[1].over.result
    assert bench.began == [1]
    assert model.games[1].unseen == set()


@settings(max_examples=100, deadline=None)
@given(words=st.integers(0, 2**32), cuts=st.sets(st.integers(0, 400), max_size=80))
def test_a_bot_that_would_choose_differently_each_time_plays_no_ply_twice(words, cuts):
    """The model fails on a second move at a ply; the bot is asked a second time nowhere."""
    model = Model(opponent=house)
    rng = random.Random(words)
    bench = Bench(model, second_thoughts=random.Random(words + 1))
    bench.run(iter(lambda: rng.randrange(6), None), lambda step: step in cuts)
    game = model.games[1]
    assert bench.records[1] == game.texts
    for ply, text in game.heard.items():
        assert game.texts[ply - 1] == text.upper()


@settings(max_examples=60, deadline=None)
@given(words=st.integers(0, 2**32), cuts=st.sets(st.integers(0, 1200), max_size=40))
def test_several_slots_and_venues(words, cuts):
    sign_in = ws.SignIn(bot="Bot", secret="sesame", venues=["5x5", "4x4"], slots=3)
    rng = random.Random(words)
    model = Model(venues={"5x5": 5, "4x4": 4}, opponent=house, games=7)
    bench = Bench(model, sign_in)
    bench.run(iter(lambda: rng.randrange(9), None), lambda step: step in cuts)
    assert sorted(bench.ended) == list(range(1, 8))
    for number, game in model.games.items():
        assert bench.records[number] == game.texts
        assert game.unseen == set()


@settings(max_examples=100, deadline=None)
@given(words=st.integers(0, 2**32), crashes=st.dictionaries(st.integers(5, 200), st.integers(1, 5), max_size=10))
def test_moves_that_the_server_lost_are_made_again_alike(words, crashes):
    """A database put back from yesterday: what was seen is void, what the bot plays there again is the same."""
    model = Model(opponent=house)
    rng = random.Random(words)
    bench = Bench(model, second_thoughts=random.Random(words + 1))

    def cut_at(step: int) -> bool:
        game = model.games.get(1)
        if step not in crashes or game is None or game.over is not None:
            return False
        lost = min(crashes[step], len(game.moves))
        if lost:
            model.take_back(game, lost)
            for ply in [ply for ply in game.heard if ply > len(game.moves) + 1]:
                del game.heard[ply]
        return True

    bench.run(iter(lambda: rng.randrange(6), None), cut_at)
    assert bench.records[1] == model.games[1].texts


def test_the_sign_in_says_what_is_known():
    model = Model(opponent=house)
    bench = Bench(model)
    bench.run(iter(lambda: 0, 1), lambda step: step == 20)
    first, second = model.sign_ins
    assert first.games == []
    (known,) = second.games
    assert known.game == 1
    assert 0 < known.ply < len(model.games[1].moves)


def test_a_new_process_goes_on_with_the_game():
    """Another program signs in under the name: nothing is known, everything is told."""
    model = Model(opponent=house)
    first = Bench(model)
    first.connect()
    for _ in range(30):
        first.step(0)
    first.cut()
    second = Bench(model)
    second.run(iter(lambda: 0, 1))
    assert second.records[1] == model.games[1].texts


# -- single situations


def game(number=1, color="black", from_ply=0, moves=(), **more):
    return ws.Game(
        game=number,
        venue="5x5",
        color=color,
        rules=ws.RulesInfo(game="go", size=5, komi=7.5, ko="positional", suicide=False),
        time=ws.TimeInfo(system="absolute", main_ms=60_000),
        black=ws.Player("Bot", "1800?"),
        white=ws.Player("Other", "1700"),
        from_ply=from_ply,
        moves=[ws.Ply(move, 60_000) for move in moves],
        black_ms=60_000,
        white_ms=60_000,
        rated=True,
        **more,
    )


def turn(ply, number=1, color="black"):
    return ws.Turn(game=number, ply=ply, color=color, black_ms=60_000, white_ms=59_000)


def moved(ply, text, color="white", your_turn=True):
    return ws.Moved(
        game=1, ply=ply, color=color, move=text, black_ms=60_000, white_ms=59_000, at=0.0, your_turn=your_turn
    )


def over(plies, **more):
    return ws.Over(
        game=1,
        result="B+Resign",
        winner="black",
        reason="resignation",
        detail="",
        plies=plies,
        date="2026-01-01",
        **more,
    )


@pytest.fixture
def client() -> core.Games:
    client = core.Games(sign_in=SIGN_IN)
    client.receive(ws.Welcome(server="s", software="s", protocol=2, at=0.0, venues=[]))
    client.receive(ws.SignedIn("Bot", ["5x5"], 1))
    return client


def sent(effects):
    return [effect.message for effect in effects if isinstance(effect, core.Send)]


def test_a_move_is_sent_when_the_server_waits_for_it(client):
    assert client.receive(game()) == [core.Began(1)]
    assert core.TurnGiven(1, 1) in client.receive(turn(1))
    assert client.choose(1, 1, "C3") == (True, [core.Send(ws.Move(game=1, ply=1, move="C3"))])
    assert client.receive(moved(2, "D4"))[-1] == core.TurnGiven(1, 3)
    assert [ply.move for ply in client.seats[1].moves] == ["C3", "D4"]


def test_a_move_chosen_while_away_is_sent_when_it_is_asked_for_again(client):
    client.receive(game())
    client.receive(turn(1))
    client.lost()
    assert client.choose(1, 1, "C3") == (True, [])
    client.receive(ws.Welcome(server="s", software="s", protocol=2, at=0.0, venues=[]))
    client.receive(ws.SignedIn("Bot", ["5x5"], 1))
    client.receive(game())
    assert sent(client.receive(turn(1))) == [ws.Move(game=1, ply=1, move="C3")]


def test_a_second_move_at_a_turn_is_refused_and_the_same_one_is_not(client):
    client.receive(game())
    client.receive(turn(1))
    client.choose(1, 1, "C3")
    assert client.choose(1, 1, "c3") == (True, [])
    with pytest.raises(MoveRefused, match="C3 was chosen at move 1 already"):
        client.choose(1, 1, "D3")


def test_a_move_nobody_asked_for_is_refused(client):
    client.receive(game())
    with pytest.raises(MoveRefused, match="nobody asked"):
        client.choose(1, 1, "C3")


def test_a_move_too_late_is_not_taken(client):
    client.receive(game())
    client.receive(turn(1))
    client.receive(over(0))
    assert client.choose(1, 1, "C3") == (False, [])
    client.retire(1)
    assert client.choose(1, 1, "C3") == (False, [])


def test_repetitions_change_nothing(client):
    client.receive(game())
    client.receive(turn(1))
    assert core.TurnGiven(1, 1) not in client.receive(turn(1))
    client.choose(1, 1, "C3")
    assert sent(client.receive(turn(1))) == [ws.Move(game=1, ply=1, move="C3")]
    client.receive(moved(2, "D4"))
    assert core.TurnGiven(1, 3) not in client.receive(moved(2, "D4"))
    assert [ply.move for ply in client.seats[1].moves] == ["C3", "D4"]


@pytest.mark.parametrize("message", [moved(4, "D4"), moved(2, "D4"), turn(3), turn(2, color="white"), moved(1, "A1")])
def test_a_gap_is_mended_by_sync(client, message):
    """Nothing is known of the game but that it began."""
    client.receive(game())
    assert sent(client.receive(message)) == [ws.Sync([ws.KnownGame(1, 0)])]


def test_a_game_that_is_not_known_is_asked_for(client):
    assert sent(client.receive(turn(5, number=9))) == [ws.Sync([ws.KnownGame(9, 0)])]
    assert sent(client.receive(game(9, from_ply=4))) == [ws.Sync([ws.KnownGame(9, 0)])]


def test_a_server_that_contradicts_itself_for_ever_is_left(client):
    client.receive(game())
    for _ in range(core.FAULTS):
        assert sent(client.receive(turn(3)))
    (fatal,) = client.receive(turn(3))
    assert isinstance(fatal.error, ServerFault)
    assert "game 1 cannot be followed" in fatal.error.text


def test_another_move_stands_in_the_record(client):
    """As when a second program played under this name."""
    client.receive(game())
    client.receive(turn(1))
    client.choose(1, 1, "C3")
    replies = client.receive(ws.Error(code="contradiction", text="Another move stands there.", game=1))
    assert sent(replies) == [ws.Sync([ws.KnownGame(1, 0)])]
    client.receive(game(moves=["A1", "B2"]))
    assert client.receive(turn(3))[-1] == core.TurnGiven(1, 3)
    assert [ply.move for ply in client.seats[1].moves] == ["A1", "B2"]


def test_a_move_chosen_for_another_position_is_not_sent(client):
    """The server took the opponent's move back, and another one stands in its place."""
    client.receive(game(moves=["C3", "D4"]))
    client.receive(turn(3))
    client.lost()
    client.choose(1, 3, "A1")
    client.receive(ws.Welcome(server="s", software="s", protocol=2, at=0.0, venues=[]))
    client.receive(ws.SignedIn("Bot", ["5x5"], 1))
    client.receive(game(from_ply=1, moves=["E5"]))
    effects = client.receive(turn(3))
    assert sent(effects) == []
    assert effects[-1] == core.TurnGiven(1, 3)
    assert client.choose(1, 3, "B2") == (True, [core.Send(ws.Move(game=1, ply=3, move="B2"))])


def test_faults_are_counted_anew_after_each_move(client):
    client.receive(game())
    for ply in range(1, 20, 2):
        assert sent(client.receive(turn(ply + 2))), "a contradiction that is mended"
        client.receive(game(from_ply=ply - 1))
        client.receive(turn(ply))
        client.choose(1, ply, "pass")
        assert client.receive(moved(ply + 1, "PASS"))[-1] == core.TurnGiven(1, ply + 2)


def test_a_game_that_the_server_forgot_ends_unknown(client):
    client.receive(game())
    client.lost()
    error = ws.Error(code="no-game", text="There is no such game.", game=1)
    assert sent(client.receive(error)) == [ws.Sync([ws.KnownGame(1, 0)])]
    assert client.receive(error)[-1] == core.Ended(1)
    assert client.seats[1].outcome.result == "?"


def test_an_ending_told_twice_is_one_ending(client):
    client.receive(game(moves=["C3", "D4"]))
    rating = ws.RatingMove(1800.0, 1810.0)
    assert client.receive(over(2, rating=rating)) == [core.Send(ws.Seen(1)), core.Ended(1)]
    assert client.seats[1].outcome.rating == (1800.0, 1810.0)
    client.retire(1)
    assert client.receive(game(moves=["C3", "D4"])) == []
    assert client.receive(over(2)) == [core.Send(ws.Seen(1))]


def test_an_ending_says_how_sure_the_rating_is(client):
    client.receive(game(moves=["C3", "D4"]))
    rating = ws.RatingMove(before=2700.0, after=2750.0, plus_minus=1140.0, lower=2320.0, upper=4600.0)
    client.receive(over(2, rating=rating))
    outcome = client.seats[1].outcome
    assert (outcome.plus_minus, outcome.lower, outcome.upper) == (1140.0, 2320.0, 4600.0)


def test_the_own_last_move_is_on_the_record(client):
    client.receive(game(moves=["C3", "PASS"]))
    client.receive(turn(3))
    client.choose(1, 3, "pass")
    client.receive(over(3))
    assert [ply.move for ply in client.seats[1].moves] == ["C3", "PASS", "PASS"]


def test_a_resignation_is_no_move_of_the_record(client):
    client.receive(game())
    client.receive(turn(1))
    client.choose(1, 1, "resign")
    client.receive(over(0))
    assert client.seats[1].moves == []


def test_wishes_hold_over_a_reconnection(client):
    assert sent(client.want(core.Wish.PAUSE)) == [ws.Pause()]
    limits = ws.OwnerLimits(games_a_day=5, avoid=["Twin"], accepts=["*"])
    assert sent(client.limit(limits)) == [ws.SetLimits(limits)]
    client.lost()
    assert client.want(core.Wish.DRAIN) == []
    (sign_in,) = sent(client.receive(ws.Welcome(server="s", software="s", protocol=2, at=0.0, venues=[])))
    assert sign_in.limits == limits
    assert sent(client.receive(ws.SignedIn("Bot", ["5x5"], 1))) == [ws.Drain()]


def test_fatal_errors_are_typed():
    client = core.Games(sign_in=SIGN_IN)
    (refused,) = client.receive(ws.Error(code="wrong-password", text="No.", fatal=True, retry_after_s=7.5))
    assert isinstance(refused.error, SignInRefused)
    assert (refused.error.code, refused.error.text, refused.error.retry_after) == ("wrong-password", "No.", 7.5)
    client.receive(ws.Welcome(server="s", software="s", protocol=2, at=0.0, venues=[]))
    client.receive(ws.SignedIn("Bot", ["5x5"], 1))
    (dismissed,) = client.receive(ws.Error(code="kicked", text="Out.", fatal=True))
    assert isinstance(dismissed.error, Dismissed)


def test_another_version_of_the_protocol_is_refused():
    (fatal,) = core.Games(sign_in=SIGN_IN).receive(ws.Welcome(server="s", software="s", protocol=3, at=0.0, venues=[]))
    assert "version 3" in fatal.error.text


def test_a_watcher_signs_nothing():
    assert core.Games(sign_in=None).receive(ws.Welcome(server="s", software="s", protocol=2, at=0.0, venues=[])) == []


def test_latency_is_kept(client):
    client.receive(ws.Latency(12.5))
    assert client.latency_ms == 12.5


def welcome(incarnation):
    return ws.Welcome(server="s", software="s", protocol=2, at=0.0, venues=[], incarnation=incarnation)


@pytest.fixture
def done() -> core.Games:
    """Game 1 has ended, and nobody looks at it any more."""
    client = core.Games(sign_in=SIGN_IN)
    client.receive(welcome("one"))
    client.receive(ws.SignedIn("Bot", ["5x5"], 1))
    client.receive(game())
    client.receive(over(0))
    client.retire(1)
    return client


@pytest.mark.parametrize("known", ["one", ""])
def test_an_ending_told_again_is_no_second_game(known):
    client = core.Games(sign_in=SIGN_IN)
    client.receive(welcome(known))
    client.receive(game())
    client.receive(over(0))
    client.retire(1)
    client.receive(welcome("one"))
    assert client.receive(game(moves=["C3"])) == []
    assert client.receive(over(1)) == [core.Send(ws.Seen(1))]


def test_a_game_of_a_restored_server_begins_though_one_of_its_number_has_ended(done):
    done.receive(welcome("two"))
    assert done.receive(game(moves=["C3", "D4"])) == [core.Began(1)]
    assert done.receive(turn(3))[-1] == core.TurnGiven(1, 3)


def test_a_turn_in_a_game_that_has_ended_has_it_begin_again(done):
    assert done.receive(game(moves=["C3", "D4"])) == []
    assert done.receive(turn(3)) == [core.Send(ws.Sync([ws.KnownGame(1, 0)]))]
    assert done.receive(game(moves=["C3", "D4"])) == [core.Began(1)]
    assert done.receive(turn(3))[-1] == core.TurnGiven(1, 3)
