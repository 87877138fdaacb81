"""Studies: which cells there are, how many events each gets, what is simulated once, what is checked."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.lab.fake_bbp import fake_bbp

from cgos_server.lab.report import Mean
from cgos_server.lab.running import Work
from cgos_server.lab.swiss import studies, sweeps
from cgos_server.lab.swiss.bbp import BbpPairings, bbp_pairings
from cgos_server.lab.swiss.studies import CHECKS, STUDIES, contestants, report
from cgos_server.lab.swiss.sweeps import MEASURES, Contestant, Setting, Sweep, Swept, asked_for, carried_out
from cgos_server.lab.tournaments import NAMES, Asked, Figure, Runs, Series, run_all
from cgos_server.tournaments.registry import SYSTEMS, system
from cgos_server.tournaments.simulation.one_event import check

WHO = functools.partial(contestants, given=(), bbp=None)

SLOW = Contestant(label="swiss", system="swiss", by=system("swiss"))
"""One by one, whatever is simulated many at a time."""

SMALL = Sweep(
    key="small",
    title="Small events",
    varied="players",
    settings=(Setting(label="6", x=6, players=6, rounds=3), Setting(label="8", x=8, players=8, rounds=3)),
    contestants=(*WHO(("dutch",)), SLOW),
    measures=("kendall", "float_pairs"),
)


@pytest.mark.parametrize("study", STUDIES)
def test_every_event_of_a_study_can_be(study: str) -> None:
    for sweep in STUDIES[study](WHO):
        assert set(sweep.measures) <= set(MEASURES)
        labels = [each.label for each in sweep.contestants]
        assert len(set(labels)) == len(labels)
        for setting in sweep.settings:
            for contestant in sweep.contestants:
                asked = asked_for(setting, contestant, 2000)
                check(asked.plan)
                assert asked.tournaments >= 2


def test_the_study_of_systems_has_all_of_them() -> None:
    (sweep,) = STUDIES["systems"](WHO)
    assert tuple(each.label for each in sweep.contestants) == SYSTEMS


def test_keys_of_tables_and_pictures_are_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(asked: list[Asked], _work: Work) -> Runs:
        figures = tuple(Figure(name, 0.5, 0.1, 0.5) for name in NAMES)
        return Runs(tuple(Series(each.plan, each.tournaments, figures) for each in asked))

    monkeypatch.setattr(sweeps, "run_all", nothing)
    made = report("all", 10, given=(), bbp=None, work=Work())
    for things in (made.tables, made.pictures):
        keys = [thing.key for thing in things]
        assert len(set(keys)) == len(keys)
    assert {table.key for table in made.tables} >= {"table4", "table5", "floats-float_pairs", "systems"}
    assert any("fitted" in note for note in made.notes)
    assert any("inferred" in note for note in made.notes)


def test_what_was_interrupted_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(asked: list[Asked], _work: Work) -> Runs:
        figures = tuple(Figure(name, None, None) for name in NAMES)
        return Runs(tuple(Series(each.plan, 0, figures) for each in asked), interrupted=True)

    monkeypatch.setattr(sweeps, "run_all", nothing)
    made = report("tables", 10, given=(), bbp=None, work=Work())
    assert made.interrupted
    assert made.checks == ()


def test_slow_systems_and_large_fields_have_fewer_events() -> None:
    def events(contestant: Contestant, players: int) -> int:
        return asked_for(Setting(label="", players=players, rounds=5), contestant, 2000).tournaments

    (fast,) = WHO(("dutch",))
    assert [events(fast, players) for players in (8, 32, 64, 256)] == [2000, 2000, 500, 31]
    assert [events(SLOW, players) for players in (8, 32, 256)] == [200, 200, 3]


def test_beta_is_given_to_those_who_have_it() -> None:
    setting = Setting(label="1", beta=1)
    plans = [asked_for(setting, Contestant(label=word, system=word), 10).plan for word in ("dutch", "swiss")]
    assert [plan.options for plan in plans] == [{"beta": 1}, {}]


def test_what_sweeps_have_in_common_is_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []

    def counting(asked: list[Asked], work: Work) -> Runs:
        counts.append(len(asked))
        return run_all(asked, work)

    monkeypatch.setattr(sweeps, "run_all", counting)
    other = replace(SMALL, key="other", settings=SMALL.settings[1:], contestants=(SLOW, *WHO(("monrad",))))
    (first, second), interrupted = carried_out([SMALL, other], 20, Work(3))
    assert counts == [5]
    assert not interrupted
    assert first.grid[1][1] == second.grid[0][0]
    assert [series.plan.players for row in first.grid for series in row] == [6, 6, 8, 8]
    assert [series.tournaments for row in first.grid for series in row] == [20, 2, 20, 2]


def test_a_table_has_a_row_for_each_setting_and_a_column_for_each_system() -> None:
    (swept,), _ = carried_out([SMALL], 20, Work(3))
    taus, floats = sweeps.tables(swept)
    assert (taus.key, floats.key) == ("small-kendall", "small-float_pairs")
    assert [column.name for column in taus.columns] == ["players", "dutch", "swiss"]
    assert "2 to 20 events a cell" in taus.title
    assert taus.rows[1] == ("8", swept.grid[1][0].mean("kendall"), swept.grid[1][1].mean("kendall"))
    line = sweeps.pictures(swept)[0].lines[0]
    assert (line.name, line.x, line.points) == ("dutch", (6, 8), False)
    single = Swept(replace(SMALL, settings=SMALL.settings[:1]), swept.grid[:1])
    (table,) = sweeps.tables(single)
    assert [row[:2] for row in table.rows] == [("dutch", 20), ("swiss", 2)]
    assert sweeps.pictures(single)[0].names == ("dutch", "swiss")


def test_a_system_over_by_itself_is_played_to_its_end() -> None:
    (sweep,) = STUDIES["systems"](WHO)
    rounds = {each.label: asked_for(sweep.settings[0], each, 10).plan.rounds for each in sweep.contestants}
    assert {word for word, number in rounds.items() if number is None} == set(studies.TO_THE_END)


def test_the_program_is_a_column_of_its_version_and_the_notes_say_whose_rules(tmp_path: Path) -> None:
    program = bbp_pairings(str(fake_bbp(tmp_path, version="v6.0.0")))
    *_, last = contestants(("dutch",), ("tcec",), program)
    assert (last.label, last.by) == ("bbpPairings v6.0.0", program)
    (swept,), _ = carried_out([replace(SMALL, settings=SMALL.settings[1:], contestants=(last,))], 20, Work(3))
    assert swept.grid[0][0].tournaments == 2
    assert swept.mean(0, last.label, "games") == Mean(12.0, 0.0)
    assert "not those of the source" in studies.about(program)
    assert "as in the source" in studies.about(BbpPairings("path", "v5.0.1"))
    assert "does not say" in studies.about(BbpPairings("path", "non-release build"))


def test_colors_beyond_beta_are_found() -> None:
    (sweep,) = STUDIES["beta"](WHO)

    def checked(largest: float) -> set[bool]:
        figures = tuple(Figure(name, largest, 0.0) for name in NAMES)
        row = tuple(Series(asked_for(sweep.settings[0], each, 5).plan, 5, figures) for each in sweep.contestants)
        return {each.holds for each in CHECKS["beta"](Swept(sweep, (row,) * len(sweep.settings)))}

    assert checked(2.0) == {True}
    assert checked(2.1) == {True, False}
