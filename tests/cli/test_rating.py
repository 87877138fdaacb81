"""`cgos-server rate`, and the standings of other systems, of the past, and recomputed."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.storage.rated_past import NAMES, VENUE, VOIDED, alter

from cgos_protocol.intervals import written
from cgos_server.cli.main import main
from cgos_server.service.ratings import models
from cgos_server.storage.lock import DatabaseLock

Run = Callable[..., Result]


@pytest.fixture
def rated(rated_past: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on a rated past that nobody changes; `fails` is the exit code to expect."""
    for variable in ("CGOS_CONFIG", "CGOS_SERVER__DATA"):
        monkeypatch.delenv(variable, raising=False)

    def run(*words: str, fails: int = 0, where: Path = rated_past) -> Result:
        result = CliRunner().invoke(main, [*words, "--data", str(where)])
        assert result.exit_code == fails, result.output
        return result

    return run


@pytest.fixture
def json_of(rated: Run) -> Callable[..., Any]:
    """What a command prints with ``--json``."""
    return lambda *words, **more: json.loads(rated(*words, "--json", **more).stdout)


def test_replay(rated: Run, json_of: Any, rated_past: Path) -> None:
    with DatabaseLock(rated_past / "cgos.sqlite", "cgos-server serve"):  # as while a server runs
        lines = rated("rate", "replay").stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [[VENUE, "bayes"], [VENUE, "cgos-elo"]]
    assert all(line.endswith("same bits") for line in lines[1:])
    replayed = json_of("rate", "replay", "--system", "bayes")
    (bayes,) = replayed[VENUE]
    assert bayes["exact"] is bayes["agrees"] is True
    assert bayes["differing"] == 0
    assert bayes["refits"] == len(json_of("rate", "refits", "--limit", "1000")[VENUE])
    assert list(bayes["builds"]) == [bayes["build"]]
    refused = rated("rate", "replay", "--system", "gor", fails=1).stderr
    assert "gor has published nothing in 9x9" in refused
    assert "bayes" in refused


def test_replay_finds_a_row_that_was_changed(rated: Run, json_of: Any, rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    sql = (
        "UPDATE rating_changes SET after_mean = after_mean + 1 WHERE system = 'cgos-elo' AND seq = 20 AND version_id = "
    )
    alter(data, sql + "(SELECT min(version_id) FROM rating_changes WHERE seq = 20)")
    result = rated("rate", "replay", fails=1, where=data)
    assert "the first difference is at entry 20" in result.stderr
    assert any(name in result.stderr for name in NAMES)
    bayes, elo = json_of("rate", "replay", fails=1, where=data)[VENUE]
    assert (bayes["agrees"], elo["agrees"], elo["differing"]) == (True, False, 1)
    assert elo["largest"] == pytest.approx(1.0)
    assert elo["first"]["seq"] == 20
    assert elo["first"]["published"]["mean"] - elo["first"]["computed"]["mean"] == pytest.approx(1.0)


def test_compare(rated: Run, json_of: Any) -> None:
    lines = rated("rate", "compare", "--system", "bayes", "--system", "cgos-elo").stdout.splitlines()
    assert lines[0].startswith("9x9: 45 games")
    assert [line.split()[0] for line in lines[2:]] == ["bayes", "cgos-elo"]
    comparison = json_of("rate", "compare", "--system", "cgos-elo", "--system", "glicko2", "--venue", VENUE)[VENUE]
    assert (comparison["games"], comparison["void"], comparison["repeats"]) == (45, 1, 0)
    first, second = comparison["systems"]
    assert (first["behind"], first["system"]) == (0.0, "cgos-elo")
    assert second["behind"] == pytest.approx(second["log_loss"] - first["log_loss"])
    for system in comparison["systems"]:
        assert 0 < system["log_loss"] < math.log(2)
        assert sum(tenth["games"] for tenth in system["tenths"]) == 45


def test_compare_draws_calibration_and_losses(rated: Run, tmp_path: Path) -> None:
    picture = tmp_path / "one.svg"
    words = ("rate", "compare", "--system", "bayes", "--system", "cgos-elo")
    ended = rated(*words, "--plot", str(picture))
    assert ended.stdout == rated(*words).stdout
    drawn = picture.read_text()
    for text in (
        "9x9: what came of 45 predictions",
        "expected score of Black",
        "as predicted",
        "cgos-elo",
        "nats a game",
    ):
        assert text in drawn
    assert "one.gif is to end with" in rated(*words, "--plot", str(tmp_path / "one.gif"), fails=1).stderr


def test_check(rated: Run, json_of: Any) -> None:
    text = rated("rate", "check").stdout
    assert "No alarm" in text
    check = json_of("rate", "check")[VENUE]
    assert {row["version"] for row in check["anchors"]} == {"Ant", "Elk"}
    assert not any(row["alarm"] for row in check["anchors"])
    assert check["changes"] == []


def test_points(rated: Run, json_of: Any) -> None:
    lines = rated("rate", "points", "--draws", "0", "--draws", "0.5").stdout.splitlines()
    assert [line.split() for line in lines if line.strip().startswith(("0 ", "400 "))] == [
        ["0", "50.0", "%", "50.0", "%"],
        # 10 : 1, and with nu = 2 as sqrt(10) : 2 : 1 / sqrt(10)
        ["400", "90.9", "%", "76.0", "%"],
    ]
    (stated,) = json_of("rate", "points", "--draws", "0.5")
    assert stated["equals_draw"] == 0.5
    assert next(row["draw"] for row in stated["leads"] if row["lead"] == 0) == 0.5
    (learned,) = json_of("rate", "points")
    assert (learned["venue"], learned["system"]) == (VENUE, "bayes")
    notes = json_of("rate", "refits", "--limit", "1")[VENUE][0]["notes"]
    assert learned["equals_draw"] == pytest.approx(notes["draw"] / (2 + notes["draw"]))
    for row in learned["leads"]:
        assert row["win"] + row["draw"] + row["loss"] == pytest.approx(1.0)
        assert row["score"] == pytest.approx(row["win"] + row["draw"] / 2)
    assert learned["leads"][0]["score"] == pytest.approx(0.5), "either color as often"
    assert f"{VENUE}, bayes: equals draw" in rated("rate", "points", "--venue", VENUE).stdout
    assert rated("rate", "points", "--system", "cgos-elo").stderr.startswith("No refit is recorded")


def test_odds(rated: Run, json_of: Any) -> None:
    there = json_of("rate", "odds", "Fox", "Ant", "--venue", VENUE)
    back = json_of("rate", "odds", "Ant", "Fox", "--venue", VENUE)
    assert there["superiority"] + back["superiority"] == pytest.approx(1.0)
    assert there["superiority"] > 0.9
    assert there["difference"] == pytest.approx(-back["difference"])
    assert there["half_width"] == pytest.approx(back["half_width"])
    for first, second in ((there["as_black"], back["as_white"]), (there["as_white"], back["as_black"])):
        assert first["win"] + first["draw"] + first["loss"] == pytest.approx(1.0)
        assert first["score"] + second["score"] == pytest.approx(1.0)
    text = rated("rate", "odds", "Fox", "Ant", "--venue", VENUE).stdout
    assert re.match(rf"9x9, bayes, after \d+ games \(entry {there['seq']}\)\n", text)
    assert there["superiority"] < 1
    assert "Fox is stronger than Ant with probability over 99 %" in text
    assert f"difference: {there['difference']:+.0f} ± {there['half_width']:.0f} Elo" in text
    black = there["as_black"]
    assert f"Fox as Black is expected to score {100 * black['score']:.1f} %" in text
    assert f"; {black['difference']:+.0f} ± {black['half_width']:.0f} Elo" in text
    plain = json_of("rate", "odds", "Fox", "Ant", "--venue", VENUE, "--system", "cgos-elo")
    assert plain["superiority"] is plain["half_width"] is None
    assert 0.5 < plain["as_black"]["score"] < 1
    assert "Did you mean Fox?" in rated("rate", "odds", "Foxx", "Ant", "--venue", VENUE, fails=1).stderr
    assert "with itself" in rated("rate", "odds", "Fox", "Fox", "--venue", VENUE, fails=1).stderr
    assert rated("rate", "odds", "Fox", "Ant").stdout == text, "both play in one venue alone"
    assert "Choose one of: 9x9, 13x13, 19x19" in rated("rate", "odds", "Foxx", "Ant", fails=2).stderr


def test_refits(rated: Run, json_of: Any) -> None:
    lines = rated("rate", "refits", "--limit", "5").stdout.splitlines()
    assert lines[0] == VENUE
    assert len(lines) == 2 + 5
    rows = json_of("rate", "refits", "--limit", "1000")[VENUE]
    assert rows[0]["cold"] is True
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    assert {"s", "w", "advantage", "draw"} <= set(rows[-1]["notes"])


def test_standings_of_another_system(json_of: Any, rated: Run) -> None:
    assert {row["system"] for row in json_of("standings")[VENUE]} == {"bayes"}
    rows = json_of("standings", "--system", "cgos-elo")[VENUE]
    assert {row["system"] for row in rows} == {"cgos-elo"}
    assert all(row["half_width"] is None for row in rows)
    assert "±" not in rated("standings", "--venue", VENUE, "--system", "cgos-elo").stdout
    assert json_of("standings", "--system", "gor")[VENUE] == []


def test_standings_say_how_sure_ranks_are(json_of: Any, rated: Run, tmp_path: Path) -> None:
    rows = {row["version"]: row for row in json_of("standings")[VENUE]}
    assert sum(row["best"] for row in rows.values()) == pytest.approx(1.0, abs=0.06), "changes up to .01 are no news"
    assert all(1 <= row["rank_lower"] <= row["rank_upper"] <= len(NAMES) for row in rows.values())
    text = rated("standings").stdout
    lines = text.splitlines()
    assert lines[1].split()[:7] == ["rank", "95", "%", "two-sided", "best", "first", "three"]
    (line,) = (line.split() for line in lines[2 : 2 + len(rows)] if " Fox " in line)
    fox = rows["Fox"]
    assert line[1] == (f"{fox['rank_lower']}–{fox['rank_upper']}" if fox["rank_lower"] < fox["rank_upper"] else "1")
    assert re.search(r"^Of 5 pairs of neighbors \d", text, re.MULTILINE)
    assert re.search(r"^\d+ results? turned round would put another than Fox first\.$", text, re.MULTILINE)
    assert "neighbors" not in rated("standings", "--system", "cgos-elo").stdout
    again = {row["version"]: row for row in json_of("standings", "--as", "recomputed")[VENUE]}
    assert sum(row["best"] for row in again.values()) == pytest.approx(1.0)
    assert json_of("standings", "--venue", VENUE, "--as-of", "9")[VENUE][0]["best"] is None, "no refit was in place"
    rated("export", "ranks", VENUE, str(tmp_path / "ranks.csv"))
    head, *lines = (tmp_path / "ranks.csv").read_text().splitlines()
    assert head == "number,at,system,version,rank_lower,rank_upper,best,first_three"
    last = {line.split(",")[3]: line.split(",") for line in lines}
    assert {name: float(cells[6]) for name, cells in last.items()} == {name: row["best"] for name, row in rows.items()}


def test_standings_of_the_past(json_of: Any, rated: Run) -> None:
    then = {row["version"]: row for row in json_of("standings", "--venue", VENUE, "--as-of", "20")[VENUE]}
    (history,) = json_of("history", "Bee", "--venue", VENUE).values()
    last = [point for point in history if point["seq"] <= 20][-1]
    assert then["Bee"]["mean"] == last["after_mean"]
    assert then["Bee"]["games"] == last["games"]
    assert rated("standings", "--venue", VENUE, "--as-of", "20").stdout.startswith(
        "9x9, bayes, after 12 games (entry 20)\n"
    )
    assert json_of("standings", "--venue", VENUE, "--as-of", "0")[VENUE] == []
    assert "has no entry 9999" in rated("standings", "--venue", VENUE, "--as-of", "9999", fails=1).stderr
    recomputed = ("standings", "--venue", VENUE, "--as", "recomputed", "--as-of", "9999")
    assert "has no entry 9999" in rated(*recomputed, fails=1).stderr
    rated("standings", "--as-of", "20", fails=2)  # of which venue?


def test_standings_at_the_end_of_a_day(json_of: Any, rated: Run) -> None:
    text = rated("standings", "--on", "2023-11-14").stdout
    entry = re.match(r"9x9, bayes, after \d+ games \(entry (\d+)\)\n", text)
    assert entry is not None
    one_venue = ("standings", "--venue", VENUE)
    by_entry = json_of(*one_venue, "--as-of", entry[1])
    assert json_of("standings", "--on", "2023-11-14")[VENUE] == by_entry[VENUE]
    assert json_of(*one_venue, "--on", "2023-11-13") == json_of(*one_venue, "--as-of", "0")
    recomputed = (*one_venue, "--as", "recomputed")
    assert json_of(*recomputed, "--on", "2023-11-14") == json_of(*recomputed, "--as-of", entry[1])
    assert "not both" in rated("standings", "--on", "2023-11-14", "--as-of", "20", fails=2).stderr
    rated("standings", "--on", "yesterday", fails=2)


def test_standings_recomputed(json_of: Any, rated: Run) -> None:
    arguments = ("standings", "--venue", VENUE, "--system", "cgos-elo")
    published = {row["version"]: row for row in json_of(*arguments)[VENUE]}
    recomputed = {row["version"]: row for row in json_of(*arguments, "--as", "recomputed")[VENUE]}
    assert {name: row["games"] for name, row in recomputed.items()} == {
        name: row["games"] for name, row in published.items()
    }
    # The voided game took part in the published ratings of everybody who played later.
    assert any(recomputed[name]["mean"] != published[name]["mean"] for name in NAMES)
    last = {name: (row["last_game"], row["last_game_at"]) for name, row in published.items()}
    assert None not in {game for game, _ in last.values()}
    assert {name: (row["last_game"], row["last_game_at"]) for name, row in recomputed.items()} == last
    early = {row["version"]: row for row in json_of(*arguments, "--as", "recomputed", "--as-of", "12")[VENUE]}
    assert sum(row["games"] for row in early.values()) == 2 * (4 - 1)  # entries 9-12 are games; one of them is void
    assert "recomputed" in rated(*arguments, "--as", "recomputed").stdout.splitlines()[0]


def test_history_with_refits(rated: Run, json_of: Any) -> None:
    (points,) = json_of("history", "Bee").values()
    refits = [point for point in points if point["refit"] is not None]
    assert refits
    assert {point["system"] for point in points} == {"bayes"}
    lines = rated("history", "Bee", "--limit", "4").stdout.splitlines()
    assert lines[0] == "9x9, bayes"
    assert len(lines) == 2 + 4
    last = points[-1]
    assert written(last["after_mean"], last["after_lower"], last["after_upper"], digits=1) in lines[-1]
    (elo,) = json_of("history", "Bee", "--system", "cgos-elo").values()
    assert {point["system"] for point in elo} == {"cgos-elo"}
    assert f"refit {refits[-1]['refit']}" in rated("history", "Bee").stdout


def test_a_corrected_game_says_so(rated: Run) -> None:
    assert ", now Void" in rated("games", "--before", str(VOIDED + 1), "--limit", "1").stdout
    text = rated("show", str(VOIDED)).stdout
    assert "by operator" in text
    assert "became Void (a test)" in text


def test_where_nothing_was_played(run: Any, as_json: Any, tmp_path: Path) -> None:
    assert as_json("rate", "replay", "--venue", "13x13") == {}
    assert as_json("rate", "compare", "--venue", "13x13") == {}
    picture = ("--plot", str(tmp_path / "one.svg"))
    assert "nothing to draw" in run("rate", "compare", "--venue", "13x13", *picture, fails=1).stderr
    assert as_json("rate", "check", "--venue", "13x13") == {}
    assert "No refit is recorded" in run("rate", "refits").stderr
    assert "there is no venue 8x8" in run("rate", "replay", "--venue", "8x8", fails=2).stderr


@pytest.fixture
def of_before(rated_past: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same past, computed by a model of `bayes` before this program's."""
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, "UPDATE refits SET notes = json_remove(notes, '$.model')")
    monkeypatch.setattr(models, "model", lambda system: 2 if system.name == "bayes" else 1)
    return data


def test_replay_leaves_out_what_an_earlier_model_published(rated: Run, json_of: Any, of_before: Path) -> None:
    result = rated("rate", "replay", where=of_before)
    refits = len(json_of("rate", "refits", "--limit", "1000")[VENUE])
    sentence = f"and {refits} refits, all of it, are of model 1, an earlier one. This program cannot compute them again"
    assert sentence in result.stderr
    assert [line.split()[-2:] for line in result.stdout.splitlines()[1:]] == [["earlier", "model"], ["same", "bits"]]
    bayes, elo = json_of("rate", "replay", where=of_before)[VENUE]
    assert (bayes["earlier_model"], bayes["earlier_refits"], bayes["earlier_until"]) == (1, refits, None)
    assert (bayes["changes"], bayes["agrees"]) == (0, True)
    assert bayes["earlier_changes"] > 0
    assert (elo["earlier_model"], elo["earlier_changes"], elo["exact"]) == (None, 0, True)


def test_check_says_which_ratings_the_next_start_fills_again(rated: Run, rated_past: Path, of_before: Path) -> None:
    last = max(row["seq"] for row in json.loads(rated("standings", "--json").stdout)[VENUE])
    warning = rated("check", where=of_before).stderr
    assert f"{VENUE}: the ratings by bayes were computed by an earlier model (1). The next start fills" in warning
    assert f"from {last} results" in warning
    assert warning.count("an earlier model") == 1
