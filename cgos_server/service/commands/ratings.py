"""What operators change about ratings: anchors, and what ended games count as.

Decides what such a command appends to the venues' ledgers, in the live server or on a closed database. Must not know:
ratings' formulas.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple, get_args

from msgspec import Meta

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict, Invalid, NotFound
from cgos_protocol.ids import GameId
from cgos_protocol.terms import decode_terms
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field, GameNumber, VenueName, VersionName, reason_field
from cgos_server.service.commands.reasons import REASON_MAX
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.asking.questions import QuestionGameRow
from cgos_server.storage.reading.stored import Counted, FirstRepeat, StoredGame
from cgos_server.storage.writing.records import CorrectionAdded, Record

WIDEST_RATING: Final = 10_000.0
WIDEST_SD: Final = 500.0
"""Of an anchor, Elo: whose rating is known no better than that holds no scale."""

RESULTS: Final[tuple[str, ...]] = get_args(api.CorrectedResult)
"""What an ended game can be made to count as."""

_COUNTS: Final = {None: "nothing", 0: "a win for White", 1: "a draw", 2: "a win for Black"}


class _Ruling(NamedTuple):
    """What a game is to count as; fields as in :class:`cgos_server.storage.writing.records.CorrectionAdded`."""

    result: str
    score2: int | None
    winner: int | None


_RULINGS: Final = tuple(map(_Ruling, RESULTS, (None, 2, 0, 1), (None, 0, 1, None)))


class AnchorSet(Command[Done], frozen=True, kw_only=True, tag="anchor set"):
    """State a version's rating.

    `version` is a bot's name, for its own version, or the wire name of a version.
    """

    allowed = Right.OPERATOR
    audited = ("rating", "sd", "venue")
    surfaces = (
        CommandLine(
            "anchor set",
            "Fix the rating of NAME at RATING.\n\n"
            "NAME is a bot, or a version by its wire name. Setting it again replaces rating and SD.",
        ),
        ApiRoute(
            "set_anchor",
            "PUT",
            "/admin/venues/{venue}/anchors/{version}",
            body="SetAnchor",
            body_says="A rating that is known, and how exactly (standard deviation, Elo; null: as the venue's system "
            "has it).",
        ),
        PageForm(
            "/admin/venues",
            "Set it",
            place="venue",
            title="Set an anchor",
            warning="{version} will have the rating {rating} in {venue} from now on, and all other ratings follow it.",
        ),
    )

    venue: VenueName
    version: VersionName
    rating: Annotated[float, Field(body=Annotated[float, Meta(ge=-10_000, le=10_000)], label="The rating")]
    sd: Annotated[
        float | None,
        Field(
            body=Annotated[float, Meta(gt=0, le=1_000)] | None,
            label="The standard deviation",
            hint="How exactly it is known, in Elo. Empty: as the rating system has it.",
            help=(
                "How exactly it is known: standard deviation, Elo (500 at most). Without this as the rating system "
                "has it."
            ),
            metavar="SD",
        ),
    ] = None

    async def perform(self, context: CommandContext) -> Done:
        if not -WIDEST_RATING <= self.rating <= WIDEST_RATING:
            raise Invalid(Code.RATING, f"An anchor's rating lies between {-WIDEST_RATING:g} and {WIDEST_RATING:g}.")
        sd = self.sd
        if sd is not None and not 0 < sd <= WIDEST_SD:
            raise Invalid(Code.SD, f"An anchor's standard deviation is above 0 and at most {WIDEST_SD:g} Elo.")
        bot, version, name = await context.version(self.version)
        ratings = await context.ledgers.ratings(self.venue)
        families = context.accounts.families
        # From here to the commit nothing may wait: the ledger's numbers must reach the store in their order.
        at = context.now_ms()
        records: list[Record] = []
        if not ratings.knows(version):
            families.arrived(version, bot)
            predecessor = families.predecessor(version, ratings.standings())
            records += ratings.enter(version, self.rating, at, predecessor).records
        records += ratings.anchor(version, self.rating, at, sd).records
        context.ledgers.changed(self.venue)
        known = {} if sd is None else {"sd": sd}
        await context.commit(self, name, records, venue=self.venue, rating=self.rating, **known)
        exactly = "" if sd is None else f", known to a standard deviation of {sd:g}"
        return Done(sentence=f"{name} is an anchor of {self.venue} at {self.rating:g}{exactly}.")


class AnchorUnset(Command[Done], frozen=True, kw_only=True, tag="anchor unset"):
    """Let an anchor's rating move again."""

    allowed = Right.OPERATOR
    audited = ("venue",)
    surfaces = (
        CommandLine("anchor unset", "Let the rating of NAME move again, from where it stands."),
        ApiRoute("unset_anchor", "DELETE", "/admin/venues/{venue}/anchors/{version}"),
        PageForm(
            "/admin/venues",
            "Let it move",
            place="anchor",
            warning="The rating of {version} in {venue} will move again.",
        ),
    )

    venue: VenueName
    version: VersionName

    async def perform(self, context: CommandContext) -> Done:
        _, version, name = await context.version(self.version)
        ratings = await context.ledgers.ratings(self.venue)
        if not ratings.knows(version) or not ratings.rating(version).anchor:
            raise Conflict(Code.NO_ANCHOR, f"{name} is no anchor of {self.venue}. See: cgos-server anchor list")
        records = ratings.unanchor(version, context.now_ms()).records
        context.ledgers.changed(self.venue)
        await context.commit(self, name, records, venue=self.venue)
        return Done(sentence=f"{name} is no anchor of {self.venue} any more; its rating moves from where it stands.")


class GameCorrect(Command[Done], frozen=True, kw_only=True, tag="correct"):
    """Change what an ended game counts as.

    An operator's word counts by itself: whatever else was played alike, a corrected game is no repeat and has none.
    Where it was the one that counted for several games that were the same, the next of them counts in its stead.
    """

    allowed = Right.OPERATOR
    audited = ("black", "instead", "pair", "question", "reason", "result", "venue", "was", "white")
    surfaces = (
        CommandLine(
            "correct",
            "Change what the ended game GAME counts as.\n\n"
            "Ratings change from now on; what was published before stays as it was. With Void the pair of a game of a "
            "question is taken out of it, until the game is corrected again.",
        ),
        ApiRoute(
            "correct_game",
            "POST",
            "/admin/games/{game}/correct",
            body="CorrectGame",
            body_says="Change what an ended game counts as.",
        ),
        PageForm(
            "/admin/games",
            "Change it",
            place="ended",
            title="Change what a game counts as",
            grave=True,
            warning="Game {game} will count as {result}, and the ratings change accordingly. Anybody can see that it "
            "was corrected, and why.",
        ),
    )

    game: GameNumber
    result: Annotated[
        str,
        Field(body=api.CorrectedResult, caption="It counts as", help="What it counts as from now on; Void is nothing."),
    ]
    reason: Annotated[
        str, reason_field("is kept", "Why: kept with the game and shown (200 characters).", "Everybody can read it.")
    ]

    async def perform(self, context: CommandContext) -> Done:
        ruling = next((each for each in _RULINGS if each.result.lower() == self.result.lower()), None)
        if ruling is None:
            raise Invalid(Code.RESULT, f"An ended game can be made to count as {', '.join(RESULTS)}.")
        reason = _kept_reason(self.reason)
        async with context.ledgers.lock:
            game = await _ended_game(context, self.game, ruling)
            venue = await _venue_of(context, game)
            asked = await context.store.history.questions.of_game(game.id)
            counted = instead = ratings = None
            if decode_terms(game.terms).rated:
                ratings = await context.ledgers.ratings(venue)
                if not ratings.knows(game.black_id) or not ratings.knows(game.white_id):
                    raise Conflict(Code.NOT_RATED, f"{game.black} and {game.white} are not both rated in {venue}.")
                counted, instead = await context.ledgers.settled(ratings, lambda: _count(context, game))
                was2 = None if counted is None else counted.score2
            else:
                was2 = _counts_in(asked, game.id, ruling)
            if was2 == ruling.score2:
                raise Conflict(
                    Code.NO_CHANGE, f"Game {game.id} counts as {_COUNTS[was2]} already: nothing would change."
                )
            at, seq, entries = context.now_ms(), None, list[Record]()
            if ratings is not None:
                applied = ratings.correct(
                    game=game.id,
                    black=game.black_id,
                    white=game.white_id,
                    was2=was2,
                    score2=ruling.score2,
                    at=at,
                    repeat=counted is not None and counted.repeat,
                )
                seq = applied.entry.seq
                entries = [*applied.records, *_instead(ratings, game, counted=counted, instead=instead, at=at)]
                context.ledgers.changed(venue)
            records: list[Record] = [
                CorrectionAdded(
                    game_id=game.id,
                    at=at,
                    seq=seq,
                    actor=self.actor,
                    reason=reason,
                    winner=ruling.winner,
                    result=ruling.result,
                ),
                *entries,
            ]
            await context.commit(
                self,
                f"game {game.id}",
                records,
                venue=venue,
                black=game.black,
                white=game.white,
                result=ruling.result,
                was=_COUNTS[was2],
                reason=reason,
                **({} if instead is None else {"instead": instead.game_id}),
                **({} if asked is None else {"question": asked.question_id, "pair": asked.pair}),
            )
            besides = "" if asked is None else await _tell_question(context, asked)
        next_one = "" if instead is None else f" Where repeats count once, game {instead.game_id} counts in its stead."
        return Done(
            sentence=f"Game {game.id} of {game.black} (Black) and {game.white} (White) counts as "
            f"{_COUNTS[ruling.score2]} from now on; it counted as {_COUNTS[was2]}.{next_one}{besides}"
        )


def _kept_reason(text: str) -> str:
    reason = " ".join(text.split())
    if not reason:
        raise Invalid(Code.NO_REASON, "A correction is kept with its reason: give one.")
    if len(reason) > REASON_MAX:
        raise Invalid(Code.LONG_REASON, f"The reason has {len(reason)} characters; {REASON_MAX} are kept. Shorten it.")
    return reason


def _instead(
    ratings: VenueRatings, game: StoredGame, *, counted: Counted | None, instead: FirstRepeat | None, at: int
) -> tuple[Record, ...]:
    """The entry of the game that counts where the corrected one did."""
    sides, digest = (game.black_id, game.white_id), _stood_for(counted)
    if instead is not None:
        corrected = ratings.correct(
            instead.game_id,
            black=game.black_id,
            white=game.white_id,
            was2=None,
            score2=instead.score2,
            at=at,
            repeat=True,
        )
        return tuple(corrected.records)
    if digest is not None:
        ratings.forget(*sides, digest)
    return ()


def _counts_in(asked: QuestionGameRow | None, game: GameId, ruling: _Ruling) -> int | None:
    """Half points of Black in an unrated game, as its question counts it. Raises Refused for another ruling."""
    if asked is None or asked.digest is None:
        raise Conflict(
            Code.NOT_RATED,
            f"Game {game} changed no rating (a sandbox venue, clocks of its own, or begun from an old game), and it "
            "counts in no question: there is nothing to correct.",
        )
    own = next(each for each in _RULINGS[1:] if each.winner == asked.winner)
    if ruling.score2 not in (None, own.score2):
        raise Invalid(
            Code.RESULT, f"In its question game {game} counts as it was played, {own.result}, or as nothing, Void."
        )
    return None if asked.void else own.score2


async def _tell_question(context: CommandContext, asked: QuestionGameRow) -> str:
    """Have the question count without the pairs that are taken out now; what became of this one, in a sentence."""
    games = await context.store.history.questions.games(asked.question_id)
    out = {game.pair for game in games if game.void}
    if context.control is not None:
        context.control.questions.take_out(asked.question_id, out)
    if asked.pair in out:
        return f" Pair {asked.pair} of question {asked.question_id} is taken out."
    return f" Pair {asked.pair} of question {asked.question_id} counts again." if asked.void else ""


async def _ended_game(context: CommandContext, number: GameId, ruling: _Ruling) -> StoredGame:
    """Raises Refused unless the game has ended and can have that result."""
    game = await context.game(number)
    if game is None:
        raise NotFound(Code.NO_GAME, f"There is no game {number}. See: cgos-server games")
    if game.result is None:
        raise Conflict(Code.RUNNING, f"Game {number} has not ended. To end it: cgos-server abort {number}")
    terms = decode_terms(game.terms)
    if ruling.score2 == 1 and terms.rules.komi2 % 2:
        komi = terms.rules.komi2 / 2
        raise NotFound(Code.NO_DRAW, f"Game {number} was played with komi {komi:g}, where nobody can draw.")
    return game


async def _venue_of(context: CommandContext, game: StoredGame) -> str:
    for venue in await context.store.history.server.venues():
        if venue.id == game.venue_id:
            return venue.name
    raise NotFound(Code.UNKNOWN_VENUE, f"The venue of game {game.id} is not known any more.")


async def _count(context: CommandContext, game: StoredGame) -> tuple[Counted | None, FirstRepeat | None]:
    """What it counts as, and the game that would count in its stead."""
    counted = await context.store.history.ledger.counted(game.id)
    digest = _stood_for(counted)
    if digest is None:
        return counted, None
    return counted, await context.store.history.ledger.first_repeat(game.venue_id, game.black_id, game.white_id, digest)


def _stood_for(counted: Counted | None) -> int | None:
    """The digest of the games for which this one counts, where they count once."""
    return None if counted is None or counted.repeat or counted.ruled else counted.digest


COMMANDS: Final = (GameCorrect, AnchorSet, AnchorUnset)
