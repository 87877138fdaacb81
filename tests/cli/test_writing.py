"""Commands that write where no server runs: bots, accounts, tokens, anchors, families, corrections."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner
from support.cli.audit import audits
from support.storage.storage_sample import bot_row

from cgos_server.cli.commands import perform
from cgos_server.cli.main import main
from cgos_server.service.people.passwords import digest
from cgos_server.storage.lock import DatabaseLock


def test_a_bot_from_add_to_enable(run: Any, data: Path, tmp_path: Path, as_json: Any) -> None:
    result = run("bot", "add", "Delta", stdin="first\n")
    assert (result.stdout, result.stderr) == ("", "The bot Delta may play.\n")
    hashed = bot_row(data, "Delta")["password"]
    assert PasswordHasher().verify(hashed, "first")
    secret = tmp_path / "secret"
    secret.write_text("second\nthird\n")
    run("bot", "passwd", "Delta", "--password-file", str(secret))
    assert PasswordHasher().verify(bot_row(data, "Delta")["password"], "second")
    run("bot", "disable", "Delta", "--reason", "it hangs")
    assert (bot_row(data, "Delta")["state"], bot_row(data, "Delta")["reason"]) == ("disabled", "it hangs")
    assert [row["state"] for row in as_json("bots")] == ["active", "active", "disabled", "active"]
    run("bot", "enable", "Delta")
    assert bot_row(data, "Delta")["state"] == "active"
    assert "does not wait for approval" in run("approve", "Delta", fails=1).stderr
    assert [row[1:] for row in audits(data)] == [
        ("bot add", "Delta"),
        ("bot passwd", "Delta"),
        ("bot disable", "Delta"),
        ("bot enable", "Delta"),
    ]
    assert audits(data)[0][0].endswith(" (command)")


def test_commands_may_come_before_the_first_start(run: Any, tmp_path: Path) -> None:
    new = tmp_path / "new"
    run("account", "add", "admin1", "--admin", stdin="long-secret\n", where=new)
    run("bot", "add", "Delta", stdin="secret\n", where=new)
    run("anchor", "set", "Delta", "1500", "--venue", "9x9", where=new)
    assert "admin1   admin   active" in run("account", "list", where=new).stdout
    assert "Delta" in run("anchor", "list", where=new).stdout


@pytest.mark.parametrize(
    "words",
    [
        "bot passwd Delta", "bot disable Delta --reason x", "bot enable Delta", "approve Delta",
        "token make Delta", "token revoke Delta 1",
        "bot own Delta Person", "bot release Delta", "bot pause Delta", "bot resume Delta", "bot limit Delta",
        "bot drain Delta", "account disable Person --reason x", "account enable Person", "account end 1",
        "webhook remove 1", "account passwd Person", "account grant Person admin", "account revoke Person admin",
        "anchor set Delta 1500 --venue 9x9", "anchor unset Delta --venue 9x9",
        "correct 1 --result Void --reason x", "family link Delta Alpha", "family unlink Delta",
        "version link Delta Alpha", "version unlink Delta",
    ],
)  # fmt: skip
def test_what_creates_nothing_makes_no_database(run: Any, tmp_path: Path, words: str) -> None:
    typo, empty = tmp_path / "typo", tmp_path / "empty"
    refused = run(*words.split(), stdin="long-secret\n", fails=1, where=typo).stderr
    assert refused.startswith(f"Error: There is no database at {typo / 'cgos.sqlite'}. ")
    assert "cgos-server serve" in refused
    assert "--data" in refused
    assert not typo.exists()
    empty.mkdir()
    (empty / "cgos.sqlite").touch()
    assert "There is no database at" in run(*words.split(), stdin="long-secret\n", fails=1, where=empty).stderr
    assert (empty / "cgos.sqlite").stat().st_size == 0


def test_accounts(run: Any, as_json: Any) -> None:
    run("account", "add", "Person", stdin="long-secret\n")
    run("account", "grant", "Person", "admin")
    assert as_json("account", "list")[0]["admin"] is True
    run("account", "passwd", "Person", stdin="long-other\n")
    run("account", "revoke", "Person", "admin")
    assert as_json("account", "list")[0]["admin"] is False
    run("account", "grant", "Person", "king", fails=2)
    assert "There is no account Nobody" in run("account", "grant", "Nobody", "admin", fails=1).stderr
    for command in (("add", "Other"), ("passwd", "Person")):
        assert "at least 10 characters" in run("account", *command, stdin="ninechars\n", fails=1).stderr
    assert "is taken" in run("account", "add", "alpha", stdin="long-secret\n", fails=1).stderr


def test_tokens(run: Any, data: Path, as_json: Any) -> None:
    made = run("token", "make", "Alpha", "--label", "home")
    token = made.stdout.strip()
    assert token.startswith("cgos_")
    assert "not shown again" in made.stderr
    with closing(sqlite3.connect(data / "cgos.sqlite")) as connection:
        assert connection.execute("SELECT digest FROM tokens").fetchall() == [(digest(token),)]
    assert [(row["id"], row["label"], row["revoked_at"]) for row in as_json("token", "list", "Alpha")] == [
        (1, "home", None)
    ]
    assert "has no token 1" in run("token", "revoke", "Beta", "1", fails=1).stderr
    run("token", "revoke", "Alpha", "1")
    assert as_json("token", "list", "Alpha")[0]["revoked_at"] is not None
    assert token not in (data / "cgos.sqlite").read_bytes().decode("latin-1")


def test_anchors(run: Any, as_json: Any) -> None:
    run("anchor", "set", "Gamma", "-20.5", "--venue", "9x9")
    assert [(row["version"], row["mean"]) for row in as_json("anchor", "list")["9x9"]] == [
        ("Beta", 1900.0),
        ("Gamma", -20.5),
    ]
    run("anchor", "unset", "Beta", "--venue", "9x9")
    assert "is no anchor" in run("anchor", "unset", "Beta", "--venue", "9x9", fails=1).stderr
    entries = [point["seq"] for point in as_json("history", "Gamma")["9x9"]]
    assert entries == [5, 6]
    assert as_json("history", "Beta")["9x9"][-1]["kind"] == "unanchor"
    assert "There is no bot Nobody" in run("anchor", "set", "Nobody", "1", "--venue", "9x9", fails=1).stderr
    for number in ("nan", "inf"):
        assert "is no rating" in run("anchor", "set", "Gamma", number, "--venue", "9x9", fails=2).stderr
        arguments = ("anchor", "set", "Gamma", "1500", "--sd", number, "--venue", "9x9")
        assert "is no standard deviation" in run(*arguments, fails=2).stderr
    assert "cgos-server bot add Nobody" in run("anchor", "set", "Nobody", "1", "--venue", "9x9", fails=1).stderr


def test_anchors_with_what_is_known_of_them(run: Any, as_json: Any) -> None:
    run("anchor", "set", "Gamma", "1500", "--sd", "40", "--venue", "9x9")
    lines = [line.split() for line in run("anchor", "list").stdout.splitlines()]
    assert lines == [
        ["venue", "anchor", "rating", "sd", "games"],
        ["9x9", "Beta", "1900.0", "1", "1"],
        ["9x9", "Gamma", "1500.0", "40", "0"],
    ]
    assert [row["spread"] for row in as_json("anchor", "list")["9x9"]] == [1.0, 40.0]
    for sd in ("0", "-3", "501"):
        refused = run("anchor", "set", "Gamma", "1500", "--sd", sd, "--venue", "9x9", fails=1).stderr
        assert "above 0 and at most 500 Elo" in refused


def test_an_anchor_is_listed_once_however_many_systems_there_are(
    run: Any, as_json: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CGOS_VENUE__9X9__RATING__VIEWS", "cgos-elo")
    run("anchor", "set", "Gamma", "1500", "--sd", "40", "--venue", "9x9")
    rows = as_json("anchor", "list")["9x9"]
    assert [(row["version"], row["system"], row["spread"]) for row in rows] == [
        ("Beta", "bayes", 1.0),
        ("Gamma", "bayes", 40.0),
    ]


def test_a_game_is_corrected(run: Any, data: Path, as_json: Any) -> None:
    done = run("correct", "1", "--result", "void", "--reason", "its engine was swapped")
    assert (done.stdout, done.stderr) == (
        "",
        "Game 1 of Alpha (Black) and Beta (White) counts as nothing from now on; it counted as a win for Black.\n",
    )
    assert "counts as nothing already" in run("correct", "1", "--result", "Void", "--reason", "x", fails=1).stderr
    assert "cgos-server abort 2" in run("correct", "2", "--result", "Void", "--reason", "x", fails=1).stderr
    assert "There is no game 3" in run("correct", "3", "--result", "Void", "--reason", "x", fails=1).stderr
    assert "give one" in run("correct", "1", "--result", "Draw", "--reason", "  ", fails=1).stderr
    run("correct", "1", "--result", "Draw", fails=2)
    run("correct", "1", "--reason", "x", fails=2)
    run("correct", "1", "--result", "B+Time", "--reason", "x", fails=2)
    assert [row[1:] for row in audits(data)] == [("correct", "game 1")]
    shown = as_json("show", "1")
    assert (shown["game"]["result"], shown["game"]["corrected"]) == ("B+4.0", "Void")
    assert [row["reason"] for row in shown["corrections"]] == ["its engine was swapped"]
    assert "its engine was swapped" in run("show", "1").stdout
    assert "Void" in run("games").stdout
    assert [row["games"] for row in as_json("standings", "--all")["9x9"] if row["version"] == "Alpha"] == [0]


def test_which_version_succeeds_which(run: Any, data: Path, as_json: Any) -> None:
    assert run("version", "link", "Beta", "Alpha", "--sd", "40", "--surely").stderr == (
        "Beta surely succeeds Alpha by a step of standard deviation 40 Elo in 9x9.\n"
    )
    (link,) = as_json("version", "list")
    assert as_json("version", "list", "Beta") == [link]
    assert as_json("version", "list", "Alpha") == []
    assert (link["version"], link["predecessor"], link["venue"], link["sd"], link["surely"]) == (
        "Beta", "Alpha", "9x9", 40, True,
    )  # fmt: skip
    assert run("version", "list").stdout.splitlines()[1].split() == ["Beta", "Alpha", "9x9", "40", "yes"]
    assert "comes from Beta itself" not in run("version", "link", "Alpha", "Alpha", fails=1).stderr
    assert "comes from Alpha itself" in run("version", "link", "Alpha", "Beta", fails=1).stderr
    assert "nan is no standard deviation" in run("version", "link", "Beta", "Alpha", "--sd", "nan", fails=2).stderr
    assert "between 1 and 1000 Elo" in run("version", "link", "Beta", "Alpha", "--sd", "0.5", fails=1).stderr
    assert "does not succeed Alpha any more in 9x9" in run("version", "unlink", "Beta").stderr
    assert as_json("version", "list") == []
    assert [row[1:] for row in audits(data)] == [("version link", "Beta"), ("version unlink", "Beta")]


def test_families(run: Any, data: Path, as_json: Any) -> None:
    assert as_json("family", "list") == {}
    assert run("family", "link", "Beta", "Alpha").stderr == (
        "Beta belongs to the family of Alpha. Its versions are linked in 9x9.\n"
    )
    assert run("family", "link", "Gamma", "Beta").stderr == "Gamma belongs to the family of Alpha.\n"
    assert as_json("family", "list") == {"Alpha": ["Beta", "Gamma"]}
    lines = run("family", "list").stdout.splitlines()
    assert lines[1].split() == ["Alpha", "Beta,", "Gamma"]
    assert "belongs to the family of Alpha already" in run("family", "link", "Beta", "Alpha", fails=1).stderr
    run("anchor", "set", "Gamma", "1500", "--venue", "9x9")
    assert "unlinked in 9x9" in run("family", "unlink", "Beta").stderr
    assert as_json("family", "list") == {"Alpha": ["Gamma"]}
    assert [row[1:] for row in audits(data)] == [
        ("family link", "Beta"),
        ("family link", "Gamma"),
        ("anchor set", "Gamma"),
        ("family unlink", "Beta"),
    ]
    with closing(sqlite3.connect(data / "cgos.sqlite")) as connection:
        entries = connection.execute("SELECT kind, version_id, other_id FROM ledger WHERE other_id > 0 ORDER BY seq")
        assert entries.fetchall() == [
            ("link", 2, 1),
            ("enter", 3, 2),
            ("unlink", 2, 1),
            ("unlink", 3, 2),
            ("link", 3, 1),
        ]


def test_which_venue(run: Any, tmp_path: Path) -> None:
    assert "Choose one of: 9x9, 13x13, 19x19" in run("anchor", "set", "Gamma", "1", fails=2).stderr
    assert "there is no venue 8x8" in run("anchor", "set", "Gamma", "1", "--venue", "8x8", fails=2).stderr
    file = tmp_path / "one.toml"
    file.write_text('[[venue]]\nname = "9x9"\nport = 1\nsize = 9\nkomi = 7\ntime = { main = "5m" }\n')
    run("anchor", "set", "Gamma", "1234", "--config", str(file))
    assert "1234.0" in run("anchor", "list").stdout


def test_an_anchor_in_a_venue_whose_terms_changed_is_refused(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGOS_VENUE__9X9__KOMI", "5.5")
    result = run("anchor", "set", "Gamma", "1", "--venue", "9x9", fails=2)
    assert "komi was 7.0 and is 5.5" in result.stderr


def test_passwords_are_never_arguments(run: Any, tmp_path: Path) -> None:
    run("bot", "add", "Delta", "secret", fails=2)
    assert "There is no password in standard input" in run("bot", "add", "Delta", fails=1).stderr
    empty = tmp_path / "empty"
    empty.touch()
    assert "its first line is empty" in run("bot", "add", "Delta", "--password-file", str(empty), fails=1).stderr
    missing = str(tmp_path / "missing")
    assert "cannot be read" in run("bot", "add", "Delta", "--password-file", missing, fails=1).stderr
    assert "at least 3 characters" in run("bot", "add", "Delta", stdin="x\n", fails=1).stderr


def test_a_terminal_is_asked_twice_and_shows_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cgos_server.cli import common

    prompts: list[dict[str, Any]] = []

    def prompt(text: str, **options: Any) -> str:
        prompts.append(options | {"text": text})
        return "secret"

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(common.click, "prompt", prompt)
    monkeypatch.setattr(common.sys, "stdin", Terminal())
    assert common.password("Delta", None, "some letters") == "secret"
    text = "New password of Delta (some letters)"
    assert prompts == [{"text": text, "hide_input": True, "confirmation_prompt": True, "err": True}]


def test_a_database_held_by_somebody_silent_is_refused_with_the_holder(
    run: Any, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "PATIENCE_S", 0.0)
    monkeypatch.setattr(perform, "_AGAIN_S", 0.0)
    with DatabaseLock(data / "cgos.sqlite", "cgos-server serve"):
        result = run("bot", "add", "Delta", stdin="secret\n", fails=1)
    assert "in use by cgos-server serve" in result.stderr
    assert audits(data) == []


def test_two_commands_at_once_wait_for_each_other(data: Path) -> None:
    results: list[Any] = []

    def add(name: str, file: Path) -> None:
        words = ["bot", "add", name, "--password-file", str(file), "--data", str(data)]
        results.append(main(words, standalone_mode=False))

    secret = data / "secret"
    secret.write_text("secret\n")
    threads = [threading.Thread(target=add, args=(name, secret)) for name in ("Delta", "Epsilon", "Zeta")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results) == 3
    assert len(audits(data)) == 3


def test_db_upgrade_of_an_up_to_date_database(run: Any) -> None:
    assert "has the schema" in run("db", "upgrade").stderr


def test_the_runner_sees_real_exit_codes() -> None:
    assert CliRunner().invoke(main, ["no-such-command"]).exit_code == 2


def test_files_that_cannot_be_used_are_named(run: Any, data: Path, tmp_path: Path) -> None:
    gone, binary = tmp_path / "gone", tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\xa2")
    assert run("bot", "passwd", "Alpha", "--password-file", str(gone), fails=1).stderr == (
        f"Error: {gone} cannot be read: No such file or directory.\n"
    )
    assert "is not text" in run("bot", "passwd", "Alpha", "--password-file", str(binary), fails=1).stderr
    lock = data / "cgos.sqlite.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()
    assert f"Error: {lock} cannot be used: Is a directory." in run("bot", "enable", "Alpha", fails=1).stderr


def test_names_and_ratings_that_cannot_be(run: Any) -> None:
    refused = run("bot", "enable", "alpha", fails=1).stderr
    assert refused == "Error: There is no bot alpha. Did you mean Alpha?\n"
    assert "no rating" in run("anchor", "set", "Alpha", "nan", "--venue", "9x9", fails=2).stderr


@pytest.mark.parametrize(
    "words",
    [("match", "Alpha", "Beta", "--venue", "9x9"), ("abort", "2"), ("pause", "--venue", "9x9"),
     ("resume", "--venue", "9x9"), ("kick", "Alpha", "--reason", "x"), ("bot", "drain", "Alpha")],
    ids=" ".join,
)  # fmt: skip
def test_rulings_need_a_running_server(run: Any, data: Path, words: tuple[str, ...]) -> None:
    result = run(*words, fails=1)
    assert "No server runs on this database." in result.stderr
    assert audits(data) == []


def test_a_venue_must_be_named_where_there_are_several(run: Any) -> None:
    for words in (("match", "Alpha", "Beta"), ("pause",), ("resume",)):
        assert "there are several venues" in run(*words, fails=2).stderr
    for words in (("match", "A", "B", "--moves", "0"), ("match", "A", "B", "--white-s", "-1"), ("abort", "x")):
        run(*words, fails=2)
