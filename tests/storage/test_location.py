"""Where a database is: what is taken for what, and that no password is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgos_server.storage.location import PostgresUrl, elsewhere, location_of, note_elsewhere


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://cgos:secret@db.example:5433/games", "postgresql://cgos@db.example:5433/games"),
        ("postgres://cgos:p%40ss%2Fword@db.example/games", "postgresql://cgos@db.example/games"),
        ("postgresql://db.example/games?sslmode=require&password=secret", "postgresql://db.example/games"),
        ("postgresql:///games?host=/run/postgresql&user=me", "postgresql:///games?host=/run/postgresql"),
        ("postgresql://cgos@[::1]:5432/my%20games", "postgresql://cgos@[::1]:5432/my games"),
        ("postgresql://a:secret@one:1,two:2/games", "postgresql://a@one:1,two:2/games"),
    ],
)
def test_a_url_is_shown_without_its_password(text: str, shown: str) -> None:
    url = PostgresUrl.parse(text)
    assert (str(url), f"{url}", repr(url), url.dsn) == (shown, shown, f"PostgresUrl({shown})", text)


@pytest.mark.parametrize(
    "text",
    [
        "mysql://db.example/games",
        "postgresql://db.example",
        "postgresql://db.example/",
        "postgresql://db.example/games/more",
        "postgresql://db.example:port/games",
        "postgresql://db.example:70000/games",
        "postgresql://[::1/games",
        "postgresql://db.example/ga\0mes",
        "games",
        "",
    ],
)
def test_what_is_no_url_of_a_postgresql_database(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whoever asked says what is wrong
        PostgresUrl.parse(text)


def test_what_a_person_means(tmp_path: Path) -> None:
    assert location_of(str(tmp_path)) == tmp_path / "cgos.sqlite"
    assert location_of(f"{tmp_path}/new") == tmp_path / "new" / "cgos.sqlite"
    assert location_of(f"{tmp_path}/copy.sqlite") == tmp_path / "copy.sqlite"
    assert location_of("~/x.db") == Path.home() / "x.db"
    assert location_of("postgresql://h/games") == PostgresUrl("postgresql://h/games")
    with pytest.raises(ValueError):  # noqa: PT011
        location_of("sqlite:///games.sqlite")


def test_word_is_left_where_the_database_is(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    assert elsewhere(path) is None
    note_elsewhere(tmp_path, PostgresUrl.parse("postgresql://cgos:secret@h/games"))
    assert elsewhere(path) == "postgresql://cgos@h/games"
    assert not [file for file in tmp_path.iterdir() if "secret" in file.read_text()]
    note_elsewhere(tmp_path, None)
    assert elsewhere(path) is None
