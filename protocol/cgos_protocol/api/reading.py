"""The reading routes of the API ``/api/v1``, live streams and exports among them.

Must not know: who handles them.
"""

from __future__ import annotations

from typing import Any, Final

from cgos_protocol.api import bulk, figures, games, live
from cgos_protocol.api import messages as api
from cgos_protocol.api.route import (
    CSV,
    NDJSON,
    SGF,
    SSE,
    TAR,
    Limit,
    Operation,
    Param,
    limit_param,
    name_param,
)
from cgos_protocol.names import NAME_PATTERN

_MOMENT = "Unix time in milliseconds."
_SYSTEM = Param(name="system", kind="text", about="A rating system; without it the venue's headline.", least=1, most=64)
_VENUE = name_param("venue", "Only in the venue of this name.")
_BEFORE = Param("before", "number", "Only those before this number: `next` of the page before.", 1)
_FILTERS: Final = (
    _VENUE,
    name_param("bot", "Played by this bot or version."),
    name_param("opponent", "Against this bot or version; together with `bot`."),
    Param(
        "reason",
        "text",
        "How it ended.",
        choices=("score", "resignation", "time", "illegal move", "forfeit", "void", "abort"),
    ),
    Param("result", "text", "Who won.", choices=("B", "W", "draw", "none")),
    Param("min_moves", "number", "At least so many moves."),
    Param("max_moves", "number", "At most so many moves."),
    Param("since", "number", f"Begun at this time or later. {_MOMENT}"),
    Param("until", "number", f"Begun before this time. {_MOMENT}"),
)
_FORMAT = Param("format", "text", "The same as asking for that type by `Accept`.", choices=("sse", "ndjson"))
_STREAM = (SSE, NDJSON)
_KEPT_OPEN = (
    "Events of `text/event-stream`, or with `Accept: application/x-ndjson` or `format=ndjson` a line of JSON each. "
)
_CONSTANT = "A stream of any length, packed where `Accept-Encoding` names gzip. "
_OLDEST_GAMES = "Ended games only, by their numbers, oldest first. "
_IN_ORDER = "By the ledger's entries, in order. "
_BY_NUMBER = "By the refits' numbers, in order. "
_LEFT_OUT = (
    " A game whose record breaks the rules of its own venue (a fault that the server logs) has no file; nothing else "
    "is left out."
)
_NEXT_TIME = "the header `Next-After` says what to give the next time, to get what is new by then."
_WHOLE_ENTRY = (
    "One entry may change several ratings: after an interruption leave out the lines of the last number that came, and "
    f"go on with the number before it as `after`; {_NEXT_TIME}"
)
_GO_ON = f"After an interruption go on with the last line's number as `after`; {_NEXT_TIME}"

VENUES, BOTS, GAMES, SERVER = "Venues", "Bots and versions", "Games and pairings", "The server"
LIVE, EXPORT = "Live", "Exports"


def _read(id: str, path: str, group: str, summary: str, answer: Any, *query: Param, **more: Any) -> Operation:  # noqa: A002
    return Operation(id=id, method="GET", path=path, summary=summary, answer=answer, group=group, query=query, **more)


def _export(id: str, path: str, media: str, summary: str, answer: Any = None, *query: Param) -> Operation:  # noqa: A002
    of_games, of_refits = "/games." in path, "/refits." in path
    what = "games" if of_games else "refits" if of_refits else "entries"
    after = Param("after", "number", f"Only {what} above this number.", default=0)
    order = _OLDEST_GAMES if of_games else _BY_NUMBER if of_refits else _IN_ORDER
    about = _CONSTANT + order + (_WHOLE_ENTRY if "/ratings." in path else _GO_ON) + (_LEFT_OUT if media == TAR else "")
    return _read(id, path, EXPORT, summary, answer, *query, after, about=about, media=(media,), limit=Limit.BULK)


READING: Final = (
    _read("index", "", SERVER, "What this server is, and where the API goes on.", api.Index),
    _read("openapi", "/openapi.json", SERVER, "This API described in OpenAPI 3.1.", dict[str, Any]),
    _read("status", "/status", SERVER, "Whether the server plays, and how much there is.", api.Status),
    _read("venues", "/venues", VENUES, "All venues.", api.Venues),
    _read("venue", "/venues/{venue}", VENUES, "One venue.", api.Venue),
    _read(
        "standings",
        "/venues/{venue}/standings",
        VENUES,
        "The standings, now or as they were.",
        api.Standings,
        _SYSTEM,
        Param("as_of", "number", "As they were published after this entry of the ledger."),
        Param("at", "number", f"As they were published at this time; not together with `as_of`. {_MOMENT}"),
        Param("recomputed", "flag", "Compute them again, every game as it counts now.", default=False),
        Param(
            "show",
            "text",
            "`all`: also versions without a rated game, and retired ones: no game for 30 days before the latest one.",
            choices=("active", "all"),
            default="active",
        ),
        limit_param(100_000, 100_000),
        about=(
            "As they were published, corrections and late refits left as they were then; or `recomputed` from the "
            "ledger: one at a time, limited for one address (`recompute`), and kept. What takes longer than 30 s is "
            "refused (`not-now`) with the command that has time for it."
        ),
    ),
    _read(
        "crosstable",
        "/venues/{venue}/crosstable",
        VENUES,
        "Who beat whom how often, among the best or among these.",
        api.Crosstable,
        Param("versions", "names", "These versions, instead of the best.", most=64, many=100, pattern=NAME_PATTERN),
        Param(name="top", kind="number", about="So many of the best that are active.", least=2, most=100, default=30),
    ),
    _read("pair", "/venues/{venue}/pairs/{one}/{other}", VENUES, "Two versions compared.", api.PairStatistics),
    _read(
        "ledger",
        "/venues/{venue}/ledger",
        VENUES,
        "The numbered facts that ratings follow from.",
        figures.LedgerPage,
        Param("after", "number", "Entries after this one.", default=0),
        limit_param(1000, 200),
    ),
    _read("metrics", "/venues/{venue}/metrics", VENUES, "A venue in figures.", figures.VenueMetrics),
    _read(
        "rounds",
        "/venues/{venue}/rounds",
        VENUES,
        "Acts of pairing that began games, newest first.",
        games.RoundPage,
        _BEFORE,
        limit_param(200, 50),
    ),
    _read(
        "bots",
        "/bots",
        BOTS,
        "All bots, by name.",
        api.BotPage,
        name_param("after", "Names after this one: `next` of the page before."),
        limit_param(1000, 200),
    ),
    _read("bot", "/bots/{bot}", BOTS, "One bot with its versions.", api.BotDetail),
    _read("version", "/versions/{version}", BOTS, "One version and where it stands.", api.VersionDetail),
    _read(
        "history",
        "/versions/{version}/history",
        BOTS,
        "A rating's changes, each with its game; or its curve.",
        (api.HistoryPage, api.RatingCurve),
        name_param("venue", "In this venue; needed where the version is rated in several."),
        _SYSTEM,
        Param(
            name="points",
            kind="number",
            about="Not every change, but about so many points of the curve.",
            least=2,
            most=2000,
        ),
        Param(name="after", kind="text", about="Changes after this one: `next` of the page before.", least=1, most=64),
        limit_param(1000, 200),
        about="Without `points` a page of changes (`items`), with it a curve (`points`), counted down in the database.",
    ),
    _read(
        "opponents",
        "/versions/{version}/opponents",
        BOTS,
        "Whom a version met, and what came of it.",
        api.Opponents,
        name_param("venue", "In this venue; needed where the version is rated in several."),
    ),
    _read(
        "figures",
        "/versions/{version}/figures",
        BOTS,
        "How a version's games ended, by color and reason, and how much it was signed in.",
        figures.VersionFigures,
        name_param("venue", "In this venue; needed where the version is rated in several."),
    ),
    _read(
        "games",
        "/games",
        GAMES,
        "Games, newest first, filtered.",
        games.GamePage,
        *_FILTERS,
        Param("running", "flag", "Only those that run (`true`), or that have ended (`false`)."),
        _BEFORE,
        limit_param(500, 50),
    ),
    _read("game", "/games/{game}", GAMES, "All about one game but its moves.", games.GameDetail),
    _read("game_sgf", "/games/{game}.sgf", GAMES, "One game as a file (SGF).", None, media=(SGF,)),
    _read(
        "moves",
        "/games/{game}/moves",
        GAMES,
        "Moves with clocks and analysis.",
        games.Moves,
        Param("after", "number", "Moves after this ply.", default=0),
        about="Of a running game only moves that are older than the venue's delay.",
    ),
    _read(
        "pairing",
        "/games/{game}/pairing",
        GAMES,
        "Why these two, with everybody whom they could have met.",
        games.RoundDetail,
    ),
    _read("round", "/rounds/{round}", GAMES, "One act of pairing with all it was decided from.", games.RoundDetail),
    _read(
        "live",
        "/live",
        LIVE,
        "What happens now, as it happens.",
        live.VenueEvent,
        _VENUE,
        Param("moves", "flag", "Tell every move of every running game.", default=False),
        _FORMAT,
        about=_KEPT_OPEN + "The first one says what runs now, and so does any after a gap.",
        media=_STREAM,
        limit=Limit.STREAMS,
    ),
    _read(
        "game_live",
        "/games/{game}/live",
        LIVE,
        "A game's moves as they are played, to its end.",
        live.GameEvent,
        Param("since", "number", "Moves after this ply."),
        _FORMAT,
        about=_KEPT_OPEN + "A reader of events that comes back with `Last-Event-ID` misses nothing; "
        "one that had the event `end` gets 204, by which an EventSource ends. Moves are shown after the venue's delay.",
        media=_STREAM,
        limit=Limit.STREAMS,
    ),
    _export(
        "export_games_ndjson",
        "/export/games.ndjson",
        NDJSON,
        "Games as lines of JSON.",
        bulk.ExportedGame,
        *_FILTERS,
    ),
    _export("export_games_csv", "/export/games.csv", CSV, "Games as a table.", None, *_FILTERS),
    _export("export_games_tar", "/export/games.tar", TAR, "Games as files (SGF) in an archive.", None, *_FILTERS),
    _export(
        "export_ratings_ndjson",
        "/export/venues/{venue}/ratings.ndjson",
        NDJSON,
        "Every change of every rating as lines of JSON.",
        bulk.ExportedChange,
        _SYSTEM,
    ),
    _export(
        "export_ratings_csv",
        "/export/venues/{venue}/ratings.csv",
        CSV,
        "Every change of every rating as a table.",
        None,
        _SYSTEM,
    ),
    _export(
        "export_refits_ndjson",
        "/export/venues/{venue}/refits.ndjson",
        NDJSON,
        "Every refit of a rating system and what it moved, as lines of JSON.",
        bulk.ExportedRefit,
        _SYSTEM,
    ),
    _export(
        "export_ledger_ndjson",
        "/export/venues/{venue}/ledger.ndjson",
        NDJSON,
        "A ledger as lines of JSON.",
        figures.LedgerEntry,
    ),
    _export("export_ledger_csv", "/export/venues/{venue}/ledger.csv", CSV, "A ledger as a table.", None),
)
"""The order is the documentation's. A path with a suffix stands before or after the one that it extends alike."""
