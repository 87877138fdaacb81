"""Where a server's database is: a SQLite file, which is a path, or a PostgreSQL database, which is a URL.

Either one as text (``str``) is fit for people and logs: a URL is shown without its password. Must not know: how a
database is opened, what is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from cgos_server.storage import DATABASE
from cgos_server.storage.ownership import give_to_owner

_SCHEMES = ("postgresql", "postgres")

_ELSEWHERE = "database-elsewhere.txt"
"""Lies in the data directory of a server whose database is not there."""


@dataclass(frozen=True, slots=True, repr=False)
class PostgresUrl:
    """A PostgreSQL database as libpq writes it: ``postgresql://user:password@host:port/name?option=value``.

    What the URL leaves out is found as libpq does: ``PGHOST``, ``PGPASSWORD``, ``~/.pgpass`` and so on.

    :ivar dsn: the URL with whatever secret is in it; never to be shown
    """

    dsn: str

    @classmethod
    def parse(cls, text: str) -> PostgresUrl:
        """Raises ValueError where `text` is no such URL, or names no database."""
        parts = urlsplit(text)
        if parts.scheme not in _SCHEMES or len(parts.path) < 2 or "/" in parts.path[1:] or "\0" in text:
            raise ValueError
        for host in parts.netloc.rpartition("@")[2].split(","):
            _ = urlsplit(f"//{host}").port
        return cls(text)

    def __repr__(self) -> str:
        return f"PostgresUrl({self})"

    def __str__(self) -> str:
        parts = urlsplit(self.dsn)
        who, _, host = parts.netloc.rpartition("@")
        user = who.partition(":")[0]
        socket = parse_qs(parts.query).get("host", [""])[0]
        where = f"{user}@{host}" if user else host
        return f"postgresql://{where}{unquote(parts.path)}" + (f"?host={socket}" if socket else "")


Location = Path | PostgresUrl
"""A database: a SQLite file's path, or PostgreSQL."""


def location_of(text: str) -> Location:
    """What a person calls a database: a URL, a SQLite file, or a data directory, which means the file in it.

    Raises ValueError where it looks like a URL and is none of PostgreSQL.
    """
    if "://" in text:
        return PostgresUrl.parse(text)
    path = Path(text).expanduser()
    return path / DATABASE if path.is_dir() or path.suffix == "" else path


def elsewhere(path: Path) -> str | None:
    """The database that the server of this data directory uses instead of the SQLite file at `path`, or None."""
    try:
        return note_path(path).read_text("utf-8").splitlines()[0]
    except (OSError, IndexError, UnicodeDecodeError):
        return None


def note_elsewhere(data: Path, location: Location | None) -> None:
    """Leave word in the data directory where its server's database is; None: in the directory itself, after all.

    Without it a command that is given the directory alone would look at an old SQLite file there, or make a new one.
    Raises OSError.
    """
    note = data / _ELSEWHERE
    if location is None:
        note.unlink(missing_ok=True)
        return
    note.write_text(
        f"{location}\nThe server of this directory keeps its database there, not in {DATABASE}. Commands find it by "
        "the server's configuration (--config or CGOS_CONFIG).\nRemove this file if that is no longer so.\n",
        encoding="utf-8",
    )


def note_path(path: Path) -> Path:
    """The file in which :func:`note_elsewhere` leaves word, for the SQLite file at `path`."""
    return path.with_name(_ELSEWHERE)


def make_directory(path: Path) -> None:
    """The directory of a database, where there is none: its owner's alone (0700), since hashes of passwords,
    transcripts and the control socket lie in it. One that is there stays as it is: it may be more than ours. Raises
    OSError."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for each in reversed(missing):
        give_to_owner(each)


def others_may_look(path: Path) -> bool:
    """Whether anybody but its owner can list, enter or change a directory. Raises OSError."""
    return bool(path.stat().st_mode & 0o077)
