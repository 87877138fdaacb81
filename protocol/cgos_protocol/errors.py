"""The one tree of errors: we did something wrong, or policy refused. What a peer may not say is answered, not raised.

A refusal has one class of seven and one code of :class:`Code`, which alone says of which class it is. Nothing here
decides a game: only a :class:`cgos_protocol.verdict.Verdict` does. Every message is a sentence that a person can act
on. Must not know: who is refused, how it is told.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Final, Self

EXIT_DISK: Final = 74
"""Exit code where the disk or the database did not take what was to be written (EX_IOERR of sysexits.h)."""

EXIT_OVERTAKEN: Final = 75
"""Exit code of a node of a cluster whose venues another node has taken over (EX_TEMPFAIL of sysexits.h)."""


class CgosError(Exception):
    """Anything that this project raises on purpose. Never raised itself."""


class OurFault(CgosError):
    """Something failed on our side. No bot may lose a game by it."""


class StoreError(OurFault):
    """The database could not be read or written."""


class CommitFailed(StoreError):
    """A group of writes could not be committed within the time allowed; nobody was told of it."""


class Overtaken(CommitFailed):
    """Another node of the cluster has taken the venues over: this one may write nothing more."""


class Refused(CgosError):
    """Policy says no. Raised as the class below to which its code belongs.

    :ivar status: with which status of HTTP the API says it
    :param code: what happened, for programs
    :param sentence: what happened and what the person can do about it
    :param retry_after_s: when another attempt makes sense, where waiting helps; kept as whole seconds, 1 at least
    :raises TypeError: the code belongs to another class
    """

    status: int

    def __init__(self, code: Code, sentence: str, retry_after_s: float | None = None) -> None:
        if not isinstance(self, code.kind):
            raise TypeError(f"{code} is the code of a {code.kind.__name__}, not of a {type(self).__name__}")
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.retry_after_s = None if retry_after_s is None else float(max(1, math.ceil(retry_after_s)))

    @staticmethod
    def of(code: Code, sentence: str, retry_after_s: float | None = None) -> Refused:
        """A refusal of the class to which `code` belongs, where the code comes from elsewhere."""
        return code.kind(code, sentence, retry_after_s)


class Invalid(Refused):
    """What was given cannot be used: a value, a file, an event, a setup."""

    status = 422


class Unauthenticated(Refused):
    """It is not known who asks, or the password is wrong."""

    status = 401


class Forbidden(Refused):
    """Whoever asks may not."""

    status = 403


class NotFound(Refused):
    """What was named is not there."""

    status = 404


class Conflict(Refused):
    """It does not go together with how things are."""

    status = 409


class RateLimited(Refused):
    """Too much of it came within a time, or at once."""

    status = 429


class Unavailable(Refused):
    """Not now."""

    status = 503


class Code(StrEnum):
    """What happened, as a stable word for programs. A word of a newer server is a code too, of :class:`Invalid`.

    :ivar kind: the class of the refusals that have it
    :ivar meaning: one sentence
    """

    kind: type[Refused]
    meaning: str

    def __new__(cls, word: str, kind: type[Refused], meaning: str) -> Self:
        """A member, from its line below."""
        code = str.__new__(cls, word)
        code._value_ = word
        code.kind = kind
        code.meaning = meaning
        return code

    @classmethod
    def _missing_(cls, value: object) -> Code:
        code = str.__new__(cls, value)
        code._name_ = code._value_ = str(value)
        code.kind = Invalid
        code.meaning = "This program does not know it."
        return code

    NO_ACCOUNT = "no-account", NotFound, "There is no such account."
    NO_ASYNCPG = (
        "no-asyncpg",
        NotFound,
        "A database in PostgreSQL is configured, and the package that reaches it is not installed.",
    )
    NO_BLACK = "no-black", NotFound, "The bot that was to have black is not signed in."
    NO_BOT = "no-bot", NotFound, "There is no such bot."
    NO_BYE = "no-bye", NotFound, "Nobody asked for that bye."
    NO_DATABASE = "no-database", NotFound, "There is no database at that place."
    NO_DIRECTORY = "no-directory", NotFound, "The data directory is a file, or lies below one."
    NO_DRAW = "no-draw", NotFound, "The komi of that game lets nobody draw."
    NO_ENTRANT = "no-entrant", NotFound, "Nobody entered the event under that number or name."
    NO_EVENT = "no-event", NotFound, "There is no event of that name."
    NO_ENTRY = "no-entry", NotFound, "The ledger of the venue has no such entry."
    NO_GAME = "no-game", NotFound, "There is no such game, or it does not run."
    NO_GROUP = "no-group", NotFound, "No node of the cluster has such a group of venues."
    NO_HTTP = "no-http", NotFound, "The host of a webhook does not answer in HTTP."
    NO_PAIRING = (
        "no-pairing",
        NotFound,
        "Nothing was considered for that game, or nobody can be paired without a forbidden pair.",
    )
    NO_PERMISSION = "no-permission", NotFound, "The running server belongs to another user of the machine."
    NO_PLACE = "no-place", NotFound, "There is nothing at this address of the API."
    NO_QUESTION = "no-question", NotFound, "There is no such question, or it has ended."
    NO_RATING = "no-rating", NotFound, "The version is rated in no venue."
    NO_ROUND = "no-round", NotFound, "There is no such round, or forbidden pairs leave no way to pair one."
    NO_SYSTEM = "no-system", NotFound, "There is no such system here, or none was named."
    NO_TRANSCRIPT = "no-transcript", NotFound, "No transcript of this name is on the machine that was asked."
    NO_TRUST = "no-trust", NotFound, "The TLS certificate of a webhook's host cannot be trusted."
    NO_VENUE = "no-venue", NotFound, "There is no such venue."
    NO_VERSION = "no-version", NotFound, "There is no such version, or it is not rated here."
    NO_WHITE = "no-white", NotFound, "The bot that was to have white is not signed in."
    RATING_SYSTEM = "rating-system", NotFound, "There is no such rating system."
    UNKNOWN_ACCESS = "unknown-access", NotFound, "There is no such session or token of a person, or it has ended."
    UNKNOWN_ACCOUNT = "unknown-account", NotFound, "There is no account of this name."
    UNKNOWN_BOT = "unknown-bot", NotFound, "There is no bot of this name."
    UNKNOWN_GAME = "unknown-game", NotFound, "There is no such game to play on the server."
    UNKNOWN_HOST = "unknown-host", NotFound, "There is no host of this name."
    UNKNOWN_NAME = "unknown-name", NotFound, "Nobody has the name, so its password cannot be changed."
    UNKNOWN_RIGHT = "unknown-right", NotFound, "There is no such right."
    UNKNOWN_TOKEN = "unknown-token", NotFound, "There is no such token of a bot."
    UNKNOWN_VENUE = "unknown-venue", NotFound, "There is no venue of this name, or it is not configured."
    UNKNOWN_WEBHOOK = "unknown-webhook", NotFound, "There is no such webhook, or it is removed."

    ALREADY_ARRIVING = "already-arriving", Conflict, "Another sign-in of this bot is being looked at."
    ALREADY_HERE = "already-here", Conflict, "The bot is signed in here, and that connection answers."
    CIRCLE = "circle", Conflict, "A version would come from itself."
    DRAINING = "draining", Conflict, "The server is going down and begins no new game."
    ENDING = "ending", Conflict, "The game is just ending by itself."
    EXISTS = "exists", Conflict, "The file is there already."
    FULL = "full", Conflict, "The account has as many tokens, webhooks or questions as it may."
    GROUP_HELD = "group-held", Conflict, "Another node of the cluster holds the venues, and is alive."
    IN_USE = "in-use", Conflict, "Another server runs on this data directory."
    ITSELF = "itself", Conflict, "A bot or version cannot be linked to itself."
    JOINED = "joined", Conflict, "Somebody is recorded as joining the event in an impossible round."
    LEADS = "leads", Conflict, "The bot leads a family of its own."
    LINKED = "linked", Conflict, "The bot belongs to a family already, or the version succeeds another one."
    NAME_TAKEN = "name-taken", Conflict, "The name is somebody else's; capitals make no difference."
    NO_ANCHOR = "no-anchor", Conflict, "The version is no anchor of this venue."
    NO_CHANGE = "no-change", Conflict, "Nothing would change."
    NO_OWNER = "no-owner", Conflict, "The bot has no owner."
    NO_CLUSTER = "no-cluster", Conflict, "The database is no PostgreSQL, so that there is no cluster on it."
    NO_CONTROL = "no-control", Conflict, "The node takes no commands from other machines."
    NO_STANDBY = "no-standby", Conflict, "No node of the cluster stands by to take the group."
    NO_HANDOVER = "no-handover", Conflict, "The server cannot hand over to the other program, or not now."
    NO_RELOAD = "no-reload", Conflict, "The server was not started from a configuration that can be read again."
    NOT_HERE = "not-here", Conflict, "The bot is not signed in."
    NOT_LINKED = "not-linked", Conflict, "The bot belongs to no other bot's family, or the version succeeds none."
    NOT_PAIRED = "not-paired", Conflict, "No matchmaker paired the game: an event, a question or an operator did."
    NOT_PENDING = "not-pending", Conflict, "The bot does not wait for approval."
    NOT_RATED = "not-rated", Conflict, "The game changed no rating, or the two versions are not both rated."
    NOT_SUSPENDED = "not-suspended", Conflict, "The bot is not suspended."
    OTHER_INCARNATION = "other-incarnation", Conflict, "The database was restored or copied since."
    OTHER_BUILD = "other-build", Conflict, "The venues were held last by a node of another build."
    QUESTION_ENDED = "question-ended", Conflict, "The question has ended."
    QUESTION_OPEN = "question-open", Conflict, "The question has not ended."
    OWNED = "owned", Conflict, "The bot has an owner."
    LAST_OPERATOR = "last-operator", Conflict, "The last operator cannot be erased."
    REVOKED = "revoked", Conflict, "The token is revoked already."
    RUNNING = "running", Conflict, "The game has not ended."
    SAME_PLAYER = "same-player", Conflict, "A bot cannot play itself."
    SAME_VERSION = "same-version", Conflict, "A version cannot be compared with itself."
    STANDING_BY = "standing-by", Conflict, "This node of the cluster stands by: another one holds the venues."
    VENUE_ELSEWHERE = "venue-elsewhere", Conflict, "Another node of the cluster plays the venue."
    WAITS_APPROVAL = "waits-approval", Conflict, "The bot waits for approval by the operator."

    DISABLED = "disabled", Forbidden, "The operator has shut out the bot or the account."
    NOT_AGREED = "not-agreed", Forbidden, "A bot of somebody else has not agreed to play for such questions."
    NO_RIGHT = "no-right", Forbidden, "The account does not have the right any more."
    NOT_ALLOWED = "not-allowed", Forbidden, "The account may not do this."
    NOT_OURS = "not-ours", Forbidden, "The file needs something that cannot be paired here."
    REGISTRATION_CLOSED = "registration-closed", Forbidden, "Only the operator adds new bots or accounts."
    SCOPE = "scope", Forbidden, "The token was not made for this, or only a password allows it."

    NO_TOKEN = "no-token", Unauthenticated, "The API needs a token for this."
    NOT_SIGNED_IN = (
        "not-signed-in",
        Unauthenticated,
        "Nobody is signed in, or the session or token is not valid any more.",
    )
    WRONG_PASSWORD = "wrong-password", Unauthenticated, "The password or the token is not the right one."

    TOO_MANY = "too-many", RateLimited, "A limit of requests, streams, downloads or new accounts is reached."
    TOO_MANY_FAILURES = "too-many-failures", RateLimited, "Too many wrong passwords came for one name from one address."

    BUSY = "busy", Unavailable, "Too much is asked at once."
    NO_SERVER = "no-server", Unavailable, "No server runs on this database."
    NO_SPACE = "no-space", Unavailable, "The disk has too little free space for what is to be written."
    NOT_NOW = "not-now", Unavailable, "The computation is too long for now, or cannot be done now."
    STORE = "store", Unavailable, "The database cannot be reached."

    BAD_GAME = "bad-game", Invalid, "A new game cannot begin from that old one."
    BAD_LENGTH = "bad-length", Invalid, "A new game cannot begin after so many moves."
    BAD_NUMBER = "bad-number", Invalid, "A field of a form holds no number, or one out of range."
    BAD_REQUEST = "bad-request", Invalid, "The server does not understand the request."
    BAD_TIME = "bad-time", Invalid, "A new game cannot have such clocks."
    BIND = "bind", Invalid, "The server cannot listen on an address."
    BLACK_BUSY = "black-busy", Invalid, "The bot that was to have black is not waiting for a game."
    BOUNDS = "bounds", Invalid, "A test cannot have such bounds or error rates."
    BRACKET = "bracket", Invalid, "The record is not one of this bracket."
    BYE_POINTS = "bye-points", Invalid, "A bye cannot give so many points."
    CANNOT_WRITE = "cannot-write", Invalid, "A file cannot be written."
    CERTIFICATE = "certificate", Invalid, "A TLS certificate or its key cannot be used."
    CHOOSE = "choose", Invalid, "None of the choices of a form was taken."
    CONFIG = "config", Invalid, "The configuration cannot be used."
    CONFIGURATION = (
        "configuration",
        Invalid,
        "The configuration was read again and cannot be used; nothing was changed.",
    )
    CONFIRM = "confirm", Invalid, "The word that confirms was not typed."
    COUNTS = "counts", Invalid, "Counts of results cannot be used."
    CSV = "csv", Invalid, "A table of an event cannot be read."
    CSV_ENTRANTS = "csv-entrants", Invalid, "The players of the event are not those of the file that was read."
    CSV_ID = "csv-id", Invalid, "A table cannot hold the number of an entrant."
    CSV_POINTS = "csv-points", Invalid, "A table cannot hold such points."
    CSV_ROUNDS = "csv-rounds", Invalid, "A table cannot hold so many rounds."
    DATA = "data", Invalid, "The data directory cannot be used."
    DAMAGED = "damaged", Invalid, "The database, or the file of a backup, is damaged or cut short."
    DATABASE_LOCKED = "database-locked", Invalid, "Another process holds the database."
    DAYS = "days", Invalid, "A token cannot be valid for so many days."
    DEMO = "demo", Invalid, "The server of the demonstration did not start."
    ELSEWHERE = "elsewhere", Invalid, "The server of this data directory keeps its database in another place."
    ENTERED = "entered", Conflict, "The version has entered the event."
    ENTRANT_ID = "entrant-id", Invalid, "An entrant cannot have that number."
    ENTRANT_NAME = "entrant-name", Invalid, "The name of an entrant has a control character."
    EVENT_CLOSED = "event-closed", Conflict, "Nobody, or not this one, can enter the event now."
    EVENT_FORMAT = "event-format", Invalid, "The event's format is not known to this program."
    EVENT_JSON = "event-json", Invalid, "The file is no event's JSON."
    EVENT_LIMIT = "event-limit", Conflict, "The event's limits keep the version out."
    EVENT_LOG = "event-log", Invalid, "The log of an event makes no sense."
    EVENT_NAME = "event-name", Invalid, "An event cannot have that name."
    EVENT_NAME_TAKEN = "event-name-taken", Conflict, "Another event has the name."
    EVENT_OVER = "event-over", Invalid, "The event is over, or nobody is left to pair."
    EVENT_PAUSED = "event-paused", Conflict, "The event is paused already, or is not."
    EVENT_PHASE = "event-phase", Conflict, "The event is too far for that, or not far enough."
    EVENT_SETTING = "event-setting", Invalid, "An event cannot be announced so."
    EVENTS = "events", Invalid, "A webhook is told of no such events."
    FIELD_FIXED = "field-fixed", Invalid, "The field of the event is fixed: nobody can enter late."
    FILE_ENDING = "file-ending", Invalid, "No format of tournaments has this ending."
    FILE_KIND = "file-kind", Invalid, "The file is of no kind that is known here."
    FORBIDDEN_ADDRESS = "forbidden-address", Invalid, "A webhook's host is in a private network."
    FORBIDDEN_PAIR = "forbidden-pair", Invalid, "Two who must not meet would have to."
    GAME_ID = "game-id", Invalid, "A game cannot have that id, or two have it."
    GRADE = "grade", Invalid, "A grade cannot be read, or is missing."
    H9 = "h9", Invalid, "An H9 file cannot be read."
    H9_GAMES = "h9-games", Invalid, "An H9 file cannot hold two games of a player in a round."
    H9_POINTS = "h9-points", Invalid, "An H9 file cannot hold such points."
    H9_SIZE = "h9-size", Invalid, "An H9 file cannot hold so many players or rounds."
    H9_STONES = "h9-stones", Invalid, "An H9 file cannot hold so many handicap stones."
    HANDICAP = "handicap", Invalid, "A game cannot have so many handicap stones."
    HAS_PLAYED = "has-played", Invalid, "An entrant is in a round already, so it stays in the event."
    HAS_RESULT = "has-result", Invalid, "The game has a result already."
    HAS_RESULTS = "has-results", Invalid, "Games of the round have results, which would be lost."
    HOURS = "hours", Invalid, "Hours of play cannot be read."
    INHERITED = "inherited", Invalid, "What a program before has left is no listening socket."
    INVALID = "invalid", Invalid, "A parameter or the body of a request cannot be read, or is out of range."
    IRREVERSIBLE = "irreversible", Invalid, "A change of the schema cannot be taken back."
    LAB = "lab", Invalid, "An experiment cannot be carried out so."
    LIMITS = "limits", Invalid, "A limit that an owner sets is out of range."
    LOCATION = "location", Invalid, "The place of a database cannot be used."
    LONG_REASON = "long-reason", Invalid, "The reason is longer than what is kept."
    MANY_OPPONENTS = (
        "many-opponents",
        Invalid,
        "Somebody has several opponents in one round, so no pairing can be compared with it.",
    )
    MCMAHON_BAR = "mcmahon-bar", Invalid, "The bar of McMahon lies under the floor."
    MEDIA_TYPE = "media-type", Invalid, "The body of the request is not plain JSON."
    METHOD = "method", Invalid, "The address cannot be asked by this method of HTTP."
    MISSING = "missing", Invalid, "A field of a form is empty."
    NAME = "name", Invalid, "The name is against the rules."
    NAME_OR_PASSWORD = "name-or-password", Invalid, "A new name or password is against the rules."
    NO_PASSWORD = "no-password", Invalid, "The file or the input holds no password."
    NO_PLAYERS = "no-players", Invalid, "The file has no players, so it is no tournament."
    NO_REASON = "no-reason", Invalid, "A correction has no reason."
    NOT_A_DATABASE = "not-a-database", Invalid, "What is there is no database of this program."
    NOT_EMPTY = "not-empty", Invalid, "The database to copy to is not empty."
    NOT_FORBIDDEN = "not-forbidden", Invalid, "Nothing forbids the two to meet."
    NOT_REACHED = "not-reached", Invalid, "A webhook's host cannot be reached."
    NOT_READ = "not-read", Invalid, "A file cannot be read."
    NOT_THE_SAME = "not-the-same", Invalid, "The new password was typed in two ways."
    OPEN_FILES = "open-files", Invalid, "The system lets the server open too few files."
    ONLY_READ = "only-read", Invalid, "The format is read, not written."
    OPENGOTHA = "opengotha", Invalid, "An XML file of OpenGotha cannot be read."
    OPERATOR = "operator", Invalid, "An operator's account does not sign in as a bot."
    OTHER_GAME = "other-game", Invalid, "The game with that id is another one."
    OUR_FAULT = "our-fault", Invalid, "The server failed, by a fault of its own."
    PAIRING_METHOD = "pairing-method", Invalid, "There is no such pairing method."
    PAIRING_OPTION = "pairing-option", Invalid, "A pairing method has no such option, or not with that value."
    PASSWORD = "password", Invalid, "The password is against the rules."
    PASSWORD_FILE = "password-file", Invalid, "The file of a password cannot be read."
    PICTURE = "picture", Invalid, "A picture cannot be drawn."
    PLANNED = "planned", Invalid, "An event cannot have so many planned rounds."
    PLUGIN = "plugin", Invalid, "A plug-in cannot be used."
    PORT_BUSY = "port-busy", Invalid, "Another program listens on the port."
    PREDECESSOR = "predecessor", Invalid, "A bot cannot name that version as its predecessor."
    QUESTION = "question", Invalid, "Such a question cannot be asked."
    QUESTION_BUDGET = "question-budget", Invalid, "A question cannot be answered within its budget or its time."
    RANKING = "ranking", Invalid, "The ranking to compare with is not complete."
    RATING = "rating", Invalid, "A rating is out of range."
    RATING_INITIAL = "rating-initial", Invalid, "A new version cannot start at that rating."
    RATING_OPTION = "rating-option", Invalid, "A rating system has no such option, or not with that value."
    REASON = "reason", Invalid, "A reason is missing."
    RESULT = "result", Invalid, "A game cannot have that result."
    RESULT_DEPENDS = "result-depends", Invalid, "Games that were paired by the present result have been played."
    RESULTS = "results", Invalid, "A file of results cannot be read."
    REVISION = "revision", Invalid, "The database cannot go back to that schema."
    ROUND_BEGUN = "round-begun", Invalid, "The round has begun already."
    ROUND_NUMBER = "round-number", Invalid, "The number of a round is not possible there."
    ROUND_OPEN = "round-open", Invalid, "Games of the round have no result yet."
    SAME_DATABASE = "same-database", Invalid, "A database cannot be copied to itself."
    SAME_ENTRANT = "same-entrant", Invalid, "An entrant stands against itself."
    SCHEMA_NEWER = "schema-newer", Invalid, "The schema of the database is newer than this program."
    SCHEMA_OLDER = "schema-older", Invalid, "The schema of the database is older than this program needs."
    SCHEMA_UNRELEASED = "schema-unreleased", Invalid, "The schema of the database was never released."
    SCOPES = "scopes", Invalid, "A token cannot be made for that."
    SCORE = "score", Invalid, "A score cannot be read."
    SD = "sd", Invalid, "A standard deviation is out of range."
    SEVERAL_GAMES = "several-games", Invalid, "Several games are meant."
    SIMULATION = "simulation", Invalid, "The tournament cannot be simulated as it was described."
    START_POINTS = "start-points", Invalid, "An entrant cannot start with so many points."
    STARTING = "starting", Unavailable, "The server is starting."
    TIE_BREAKER = "tie-breaker", Invalid, "There is no such tie-breaker."
    TOKEN_CANNOT_CHANGE = "token-cannot-change", Invalid, "A token does not change a password."
    TOO_FEW_ENTRANTS = "too-few-entrants", Invalid, "The system needs more entrants."
    TOO_LARGE = "too-large", Invalid, "What was sent is longer than it may be."
    TOO_SLOW = "too-slow", Invalid, "What was to come did not come in time."
    TOO_SOON = "too-soon", Invalid, "A test of the webhook was sent a moment ago."
    TOURNAMENT_OPTION = "tournament-option", Invalid, "A tournament system has no such option, or not with that value."
    TOURNAMENT_SYSTEM = "tournament-system", Invalid, "There is no such tournament system."
    TRF = "trf", Invalid, "A tournament report (TRF) cannot be read."
    TRF_ENTRANTS = "trf-entrants", Invalid, "The players of the event are not those of the report that was read."
    TRF_GAMES = "trf-games", Invalid, "A tournament report cannot hold two games of a player in a round."
    TRF_ID = "trf-id", Invalid, "A tournament report cannot hold the number of an entrant."
    TRF_POINTS = "trf-points", Invalid, "A tournament report cannot hold such points."
    TRF_RESULT = "trf-result", Invalid, "A tournament report has no code for such a result or bye."
    TRF_ROUNDS = "trf-rounds", Invalid, "A tournament report cannot hold so many rounds."
    TWICE = "twice", Invalid, "Two lines give a result of the same game."
    TWO_BYES = "two-byes", Invalid, "An entrant has two byes in one round."
    UNTIL = "until", Invalid, "The end of the time does not lie in the future."
    URL = "url", Invalid, "The address of a webhook is not possible."
    VERSION = "version", Invalid, "The name of a version is against the rules."
    WHITE_BUSY = "white-busy", Invalid, "The bot that was to have white is not waiting for a game."
    WIRE_NAME = "wire-name", Invalid, "The wire name of a version is against the rules, or not its own."


class ConfigError(Invalid):
    """The configuration cannot be used. The sentence names the place (file and key) and the remedy."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(Code.CONFIG, f"{place}: {problem}. {remedy}")
        self.place = place
        self.problem = problem
        self.remedy = remedy


class SchemaMismatch(Invalid):
    """The database's schema is not the one that this program works with."""


class DatabaseLocked(Invalid):
    """Another process holds the database."""
