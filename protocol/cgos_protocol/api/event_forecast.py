"""The message of the API about a rehearsal: how long an event will take.

Must not know: HTTP, how it is computed.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from cgos_protocol.api.messages import Answer, Count, Id, Moment
from cgos_protocol.api.people import Name

Seconds = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class ForecastSpan(Answer, frozen=True, kw_only=True):
    """Half of the rehearsals have no more than `median`, nine in ten no more than `likely`."""

    median: float
    likely: float


class ForecastMoment(Answer, frozen=True, kw_only=True):
    """In half of the rehearsals not later than `median`, in nine of ten not later than `likely`."""

    median: Moment
    likely: Moment


class RoundForecast(Answer, frozen=True, kw_only=True):
    """A round that is not over. `begins`: null: it has begun. `share`: of the rehearsals that have such a round."""

    number: Id
    begins: ForecastMoment | None
    ends: ForecastMoment
    share: Share


class Chance(Answer, frozen=True, kw_only=True):
    """The share of the rehearsals that an entrant wins."""

    name: Name
    share: Share


class EventForecast(Answer, frozen=True, kw_only=True):
    """How long an event will take, from rehearsals in simulated time with its own system.

    `sentence`: all of it in short. `starts_at`: from when times are counted: its start, or now where it runs or has no
    time of its start. `assumed`: entrants of whom nobody knows yet who they are. `seen_games`: in how many the length
    of a game was seen; 0: it is guessed from the clocks. `replicates`: how many rehearsals. `favorites`: the likeliest
    winners by the ratings, the likeliest first.
    """

    event: Name
    sentence: str
    starts_at: Moment
    entrants: Count
    assumed: Count
    game_s: Annotated[Seconds, Meta(description="Mean length of a game.")]
    game_sd_s: Annotated[Seconds, Meta(description="Standard deviation of a game's length.")]
    seen_games: Count
    replicates: Count
    rounds: ForecastSpan
    games: ForecastSpan
    duration_s: ForecastSpan
    ends: ForecastMoment
    schedule: list[RoundForecast]
    favorites: list[Chance]
