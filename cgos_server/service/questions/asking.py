"""How something is asked by games: who may ask it of whom, on which terms; and what it is expected to cost.

Owners ask about their own versions, within the server's limits; operators about any, beyond them. Must not know: how a
question goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from cgos_protocol.api import people as api
from cgos_protocol.api.questions import AskedQuestion
from cgos_protocol.errors import Code, Conflict, Forbidden, Invalid
from cgos_protocol.ids import VersionId
from cgos_server.core.questions.agreement import agrees
from cgos_server.core.questions.asked import Asked, Challenge, Gauntlet, Opponent, Test, opponents_of, require_askable
from cgos_server.core.questions.policy import Policy
from cgos_server.core.questions.wording import asks, terms
from cgos_server.core.sequential import Scale
from cgos_server.service.commands.context import CommandContext, NamedVersion
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field, VenueName
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.events.fields import by_operator, time_field
from cgos_server.service.questions.desk import Asking
from cgos_server.service.questions.planning import Model, Pace, costs, model_of, require_hopeful

PAGE: Final = "/questions"

MOST_OPPONENTS: Final = 100
"""Of a gauntlet."""

_MOST_DRAWS: Final = 0.999
"""Where all games are drawn nothing would say who is stronger."""

Elo = Annotated[float, Meta(ge=-1000, le=1000)]
Rate = Annotated[float, Meta(gt=0, lt=1)]
VersionAsked = Annotated[
    str,
    Field(
        body=api.Name,
        label="The version",
        caption="Version",
        hint="Whose strength is asked about: a bot or version of yours.",
        metavar="VERSION",
    ),
]
Games = Annotated[
    int | None,
    Field(
        body=Annotated[int, Meta(ge=2, le=1_000_000)] | None,
        label="The budget of games",
        caption="Games at most",
        hint="Empty: as many as the server allows.",
        help="Games at most; they come in pairs. Without this as many as the server allows.",
        metavar="N",
    ),
]
Rated = Annotated[
    bool,
    Field(
        caption="Rated",
        hint="Never between bots of one owner or family.",
        help="Have its games count for the ratings, as far as the venue's do.",
    ),
]
Priority = Annotated[
    int,
    Field(
        body=Annotated[int, Meta(ge=-100, le=100)],
        caption="Priority",
        hint="Of your own questions, those with a higher number come first.",
        help="Of one's own questions, those with a higher number come first.",
        metavar="N",
    ),
]
Dry = Annotated[
    bool,
    Field(
        caption="Only say what it costs",
        hint="Nothing is asked then.",
        help="Only say what it is expected to cost; nothing is asked.",
    ),
]
EndsAt = Annotated[int | None, time_field("When it ends at the latest: a date, or now+2d.", "It ends")]


class _Ask(Command[AskedQuestion], frozen=True, kw_only=True):
    """What all that ask have."""

    concerns = "version"
    live = True
    audited = ("against", "most_games", "question", "rated", "venue")

    version: VersionAsked
    venue: VenueName
    rated: Rated = False
    ends_at: EndsAt = None
    priority: Priority = 0
    dry: Dry = False

    async def _ask(self, context: CommandContext, asked: Asked, names: Sequence[NamedVersion]) -> AskedQuestion:
        """Look at all that has to be so, and ask.

        :param names: the version first, then the opponents that are named
        """
        desk = context.server.questions
        require_askable(asked)
        _require_within(asked, desk.policy)
        strangers = await _strangers(context, names)
        if not by_operator(context):
            await _require_agreed(context, self.venue, names[0].name, strangers)
            asked = replace(asked, foreign=tuple(named.version_id for named in strangers))
        if asked.rated:
            _require_ratable(context, names, strangers)
        pace = await _pace(context, self.venue, desk.policy)
        expected = costs(asked, pace, _model(context, self.venue, asked))
        require_hopeful(asked, expected, context.now_ms())
        question = None
        if not self.dry:
            owner = None if context.asker is None else context.asker.person
            if owner is not None and not by_operator(context):
                _require_room(desk.open_of(owner.owner_id), desk.policy)
            question = desk.ask(
                Asking(
                    asked=asked,
                    venue=self.venue,
                    owner_id=None if owner is None else owner.owner_id,
                    owner=None if owner is None else owner.name,
                    priority=self.priority,
                )
            )
            await context.commit(
                self,
                names[0].name,
                [],
                venue=self.venue,
                question=question,
                against=" ".join(named.name for named in names[1:]),
                rated=asked.rated,
                most_games=asked.most_games,
            )
        what = f"{asks(asked, {named.version_id: named.name for named in names})} {terms(asked)}"
        said = f"Question {question}: {what}" if question else f"{what} Nothing was asked."
        return AskedQuestion(question=question, venue=self.venue, kind=asked.kind, sentence=said, costs=expected)


class AskTest(_Ask, frozen=True, kw_only=True, tag="ask test"):
    """Ask whether a version is stronger than another one, by a sequential test on pairs of games."""

    allowed = Right.OWN_BOT
    surfaces = (
        CommandLine(
            "ask test",
            "Ask whether VERSION is stronger than AGAINST.\n\n"
            "A sequential probability ratio test on pairs of games, with colors swapped on each opening. It accepts "
            "where VERSION is stronger by the upper bound rather than by the lower one, and rejects otherwise.",
            arguments=("version", "against"),
        ),
        ApiRoute(
            "ask_test",
            "POST",
            "/questions/tests",
            body="AskTest",
            body_says="Is `version` stronger than `against`? Bounds in Elo of `scale`.",
            status=201,
        ),
        PageForm(
            PAGE,
            "Ask it",
            place="ask",
            title="Is it stronger?",
            note="A test ends as soon as its games decide. Wider bounds need fewer games.",
            groups={
                "": ("version", "against", "venue", "lower", "upper", "dry"),
                "More": ("scale", "alpha", "beta", "most_games", "ends_at", "priority", "rated"),
            },
        ),
    )

    against: Annotated[str, Field(body=api.Name, label="The other version", caption="Against", metavar="AGAINST")]
    lower: Annotated[
        float, Field(body=Elo, caption="Lower bound", help="Elo at which the test rejects.", metavar="ELO")
    ] = 0.0
    upper: Annotated[float, Field(body=Elo, caption="Upper bound", help="Elo at which it accepts.", metavar="ELO")] = (
        50.0
    )
    scale: Annotated[
        str,
        Field(
            body=Literal["nelo", "elo"],
            caption="Scale of the bounds",
            hint="nelo: normalized Elo; elo: logistic Elo.",
            help="Of the bounds: nelo is normalized Elo, elo logistic Elo.",
        ),
    ] = "nelo"
    alpha: Annotated[
        float, Field(body=Rate, caption="Alpha", help="Share of wrong acceptances at most.", metavar="SHARE")
    ] = 0.05
    beta: Annotated[
        float, Field(body=Rate, caption="Beta", help="Share of wrong rejections at most.", metavar="SHARE")
    ] = 0.05
    most_games: Games = None

    async def perform(self, context: CommandContext) -> AskedQuestion:
        names = [await context.version(name) for name in (self.version, self.against)]
        asked = Test(
            version=names[0].version_id,
            against=names[1].version_id,
            scale=_scale(self.scale),
            lower=self.lower,
            upper=self.upper,
            alpha=self.alpha,
            beta=self.beta,
            most_games=_budget(self.most_games, context),
            ends_at=self.ends_at,
            rated=self.rated,
        )
        return await self._ask(context, asked, names)


class AskGauntlet(_Ask, frozen=True, kw_only=True, tag="ask gauntlet"):
    """Ask where a version stands among others, to within so many Elo."""

    allowed = Right.OWN_BOT
    surfaces = (
        CommandLine(
            "ask gauntlet",
            "Ask where VERSION stands among OPPONENTS.\n\n"
            "On the scale of their ratings in the venue. It ends when half of the 95 % interval is as narrow as asked. "
            "The interval counts in how well the venue knows the opponents and the first move; where no number of "
            "games makes it narrow enough, it ends and says so.",
            arguments=("version", "opponents"),
        ),
        ApiRoute(
            "ask_gauntlet",
            "POST",
            "/questions/gauntlets",
            body="AskGauntlet",
            body_says="Where does `version` stand among `opponents`, to within so many Elo?",
            status=201,
        ),
        PageForm(
            PAGE,
            "Ask it",
            place="ask",
            title="Where does it stand?",
            groups={
                "": ("version", "opponents", "venue", "within", "dry"),
                "More": ("most_games", "ends_at", "priority", "rated"),
            },
        ),
    )

    opponents: Annotated[
        list[str],
        Field(
            body=Annotated[list[api.Name], Meta(min_length=1, max_length=MOST_OPPONENTS)],
            label="The opponents",
            caption="Opponents",
            hint="Names with blanks between them.",
            metavar="OPPONENTS",
        ),
    ]
    within: Annotated[
        float,
        Field(
            body=Annotated[float, Meta(gt=0, le=1000)],
            caption="Within",
            hint="Elo: half of the 95 % interval.",
            help="Elo that half of the 95 % interval has at the end, what is not known of the opponents included.",
            metavar="ELO",
        ),
    ] = 50.0
    most_games: Games = None

    async def perform(self, context: CommandContext) -> AskedQuestion:
        if len(self.opponents) > MOST_OPPONENTS:
            raise Invalid(Code.QUESTION, f"A gauntlet has {MOST_OPPONENTS} opponents at most.")
        names = [await context.version(name) for name in (self.version, *dict.fromkeys(self.opponents))]
        asked = Gauntlet(
            version=names[0].version_id,
            field=tuple(_rated_now(context, self.venue, named) for named in names[1:]),
            within=self.within,
            draws=_draws(context, self.venue),
            joint=True,
            most_games=_budget(self.most_games, context),
            ends_at=self.ends_at,
            rated=self.rated,
        )
        return await self._ask(context, asked, names)


class AskChallenge(_Ask, frozen=True, kw_only=True, tag="ask challenge"):
    """Ask for so many games of a version against another one, or against whoever accepts."""

    allowed = Right.OWN_BOT
    surfaces = (
        CommandLine(
            "ask challenge",
            "Ask for GAMES games of VERSION.\n\nAgainst one opponent, or without one against whoever is there and "
            "accepts such questions.",
            arguments=("version", "most_games"),
        ),
        ApiRoute(
            "ask_challenge",
            "POST",
            "/questions/challenges",
            body="AskChallenge",
            body_says="`most_games` games of `version` against `against`; null: against whoever accepts.",
            status=201,
        ),
        PageForm(
            PAGE,
            "Ask it",
            place="ask",
            title="Play so many games",
            groups={
                "": ("version", "against", "venue", "most_games", "dry"),
                "More": ("ends_at", "priority", "rated"),
            },
        ),
    )

    most_games: Annotated[
        int,
        Field(
            body=Annotated[int, Meta(ge=2, le=1_000_000)],
            label="The number of games",
            caption="Games",
            hint="They come in pairs.",
            metavar="GAMES",
        ),
    ]
    against: Annotated[
        str | None,
        Field(
            body=api.Name | None,
            caption="Against",
            hint="Empty: whoever accepts.",
            help="The opponent; without this whoever accepts.",
            metavar="NAME",
        ),
    ] = None

    async def perform(self, context: CommandContext) -> AskedQuestion:
        names = [await context.version(name) for name in (self.version, self.against) if name]
        asked = Challenge(
            version=names[0].version_id,
            against=names[1].version_id if len(names) > 1 else None,
            most_games=self.most_games,
            ends_at=self.ends_at,
            rated=self.rated,
        )
        return await self._ask(context, asked, names)


class _Stranger(NamedTuple):
    """An opponent that does not belong to whoever asks. `accepts`: in whose questions its owner lets it play."""

    name: str
    version_id: VersionId
    accepts: frozenset[str]


async def _strangers(context: CommandContext, names: Sequence[NamedVersion]) -> list[_Stranger]:
    """Opponents of other owners than the version's."""
    people = context.store.history.people
    own = await people.owner_of(names[0].name)
    strangers: list[_Stranger] = []
    for named in names[1:]:
        owned = await people.bot_owner(named.name)
        if owned is None or named.bot_id == names[0].bot_id or (owned.owner is not None and owned.owner == own):
            continue
        strangers.append(_Stranger(named.name, named.version_id, (await context.bot(owned.name)).limits.accepts))
    return strangers


async def _require_agreed(context: CommandContext, venue: str, version: str, strangers: Sequence[_Stranger]) -> None:
    """Raises Refused (``not-agreed``)."""
    asker = context.caller.person.name
    for stranger in strangers:
        here = context.server.questions.accepted_by(venue, stranger.version_id)
        if not agrees(here if here is not None else stranger.accepts, asker=asker, bot=version):
            raise Forbidden(
                Code.NOT_AGREED,
                f"{stranger.name} does not belong to you and has not agreed. Ask its owner to let it accept your "
                f"questions (cgos-server bot limit NAME --accept {asker}), or to have the bot say so itself.",
            )


def _require_ratable(context: CommandContext, names: Sequence[NamedVersion], strangers: Sequence[_Stranger]) -> None:
    """Raises Refused (``question``) for rated games within an owner's bots, or a family."""
    families = context.accounts.families
    leader = families.leader(names[0].bot_id)
    apart = {stranger.version_id for stranger in strangers}
    for named in names[1:]:
        if named.version_id not in apart or families.leader(named.bot_id) == leader:
            raise Invalid(
                Code.QUESTION,
                f"{names[0].name} and {named.name} are of one owner or one family, and games between such are never "
                "rated. Ask for unrated ones.",
            )
    if len(names) == 1:
        raise Invalid(
            Code.QUESTION, "Games against whoever accepts are not rated. Name an opponent, or ask for unrated ones."
        )


def _budget(games: int | None, context: CommandContext) -> int:
    """None: all that the server allows, as far as they are pairs."""
    return games if games is not None else context.server.questions.policy.most_games // 2 * 2


def _scale(word: str) -> Scale:
    """Raises Refused (``question``)."""
    try:
        return Scale(word)
    except ValueError:
        raise Invalid(Code.QUESTION, f"{word[:40]!r} is no scale. Choose one of: {', '.join(Scale)}.") from None


def _require_within(asked: Asked, policy: Policy) -> None:
    """Raises Refused (``question``) for more than the server allows."""
    if policy.share <= 0.0:
        raise Invalid(Code.QUESTION, "This server takes no questions: questions.share is 0 in its configuration.")
    if asked.most_games > policy.most_games:
        raise Invalid(Code.QUESTION, f"A question has {policy.most_games} games at most on this server. Ask for fewer.")


def _require_room(open_now: int, policy: Policy) -> None:
    """Raises Refused (``full``)."""
    if open_now >= policy.open_per_owner:
        raise Conflict(
            Code.FULL,
            f"An account has {policy.open_per_owner} open questions at most, and you have as many. Stop one, or wait "
            "until one has ended.",
        )


def _rated_now(context: CommandContext, venue: str, named: NamedVersion) -> Opponent:
    """Raises Refused (``not-rated``) where it has no rating in the venue."""
    rating = context.server.events.rating(venue, named.version_id)
    if rating is None:
        raise Conflict(
            Code.NOT_RATED, f"{named.name} has no rating in {venue}, so that nothing can be placed by it. Leave it out."
        )
    return Opponent(version=named.version_id, rating=round(rating, 1))


def _draws(context: CommandContext, venue: str) -> float:
    """The share of their games that equals draw in the venue, by its ratings; below 1."""
    ratings = context.server.ratings(venue)
    return 0.0 if ratings is None else min(round(ratings.draws, 4), _MOST_DRAWS)


async def _pace(context: CommandContext, venue: str, policy: Policy) -> Pace:
    return Pace.of(await context.store.history.lengths.of_venue(venue), policy.share)


def _model(context: CommandContext, venue: str, asked: Asked) -> Model:
    ratings = context.server.ratings(venue)
    opponents = opponents_of(asked)
    if ratings is not None and isinstance(asked, Gauntlet):
        known_jointly = ratings.joint_ratings(opponents)
        return Model(known_jointly.first_move, ratings=known_jointly)
    known = ratings is not None and all(ratings.knows(version) for version in (asked.version, *opponents))
    if ratings is None or not known or not opponents:
        return Model()
    return model_of(ratings.predict(asked.version, opponents[0]), ratings.predict(opponents[0], asked.version))


COMMANDS: Final[tuple[type[Command[AskedQuestion]], ...]] = (AskTest, AskGauntlet, AskChallenge)
