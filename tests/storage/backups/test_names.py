"""Names of backups and which of them are kept, against all folders that there may be."""

from __future__ import annotations

import string
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.storage.backups.names import Keep, instant_of, is_before_change, last_due, name_of, outdated

DAY = 86_400_000
NIGHT = round(datetime(2026, 3, 31, 3, 30, tzinfo=UTC).timestamp() * 1000)

instants = st.integers(0, 4_000_000_000).map(lambda second: second * 1000)
keeps = st.builds(Keep, days=st.integers(0, 9), weeks=st.integers(0, 9), months=st.integers(0, 9))
folders = st.lists(instants, max_size=60, unique=True).map(lambda some: [name_of(instant) for instant in some])
strangers = st.text(string.printable, max_size=30).filter(lambda text: instant_of(text) is None)


@given(instants)
def test_a_name_says_when(at: int) -> None:
    assert instant_of(name_of(at + 999)) == at


def test_names_that_are_no_backups() -> None:
    assert name_of(NIGHT) == "cgos-20260331T033000Z.sqlite"
    for name in (
        "cgos.sqlite",
        "cgos-20260331T033000Z.sqlite-wal",
        "old-cgos-20260331T033000Z.sqlite",
        "cgos-20261331T033000Z.sqlite",
        "cgos-20260331T036000Z.sqlite",
        "cgos-20260331T033000Z.sqlite\n",
    ):
        assert instant_of(name) is None


@given(folders, st.lists(strangers, max_size=5), keeps)
def test_the_newest_and_what_is_no_backup_stay(folder: list[str], others: list[str], keep: Keep) -> None:
    removed = outdated([*folder, *others], keep)
    assert set(removed) <= set(folder)
    assert not folder or max(folder) not in removed
    assert removed == sorted(removed)


@given(folders, keeps)
def test_what_is_kept_stays_kept(folder: list[str], keep: Keep) -> None:
    rest = set(folder) - set(outdated(folder, keep))
    assert outdated(rest, keep) == []
    assert len(rest) <= max(1, keep.days + keep.weeks + keep.months)


@given(folders, keeps)
def test_the_last_of_each_kept_day_stays(folder: list[str], keep: Keep) -> None:
    rest = set(folder) - set(outdated(folder, keep))
    days: dict[str, str] = {}
    for name in sorted(folder):
        days[name[:13]] = name
    assert {days[day] for day in sorted(days, reverse=True)[: keep.days]} <= rest


def test_a_year_of_nights() -> None:
    keep = Keep(days=7, weeks=4, months=6)
    folder: set[str] = set()
    for night in range(365):
        folder.add(name_of(NIGHT + night * DAY))
        folder -= set(outdated(folder, keep))
    days = [name[5:13] for name in sorted(folder, reverse=True)]
    assert days == [
        *("20270330", "20270329", "20270328", "20270327", "20270326", "20270325", "20270324"),
        *("20270321", "20270314"),
        *("20270228", "20270131", "20261231", "20261130", "20261031"),
    ]


def test_a_day_with_many_keeps_its_last() -> None:
    folder = [name_of(NIGHT + minute * 60_000) for minute in range(5)]
    assert outdated(folder, Keep(days=3, weeks=0, months=0)) == folder[:4]
    assert outdated(folder, Keep(days=0, weeks=0, months=0)) == folder[:4]


@given(instants, st.integers(0, 1439))
def test_one_is_due_each_day(now: int, minute: int) -> None:
    due = last_due(now, minute)
    assert now - DAY < due <= now
    assert due // 60_000 % 1440 == minute


@given(folders, instants, keeps)
def test_one_before_a_change_of_the_schema_stays_for_months(folder: list[str], at: int, keep: Keep) -> None:
    before = name_of(at, before=("upgrade", "0005_country"))
    assert instant_of(before) == at
    assert is_before_change(before)
    assert not any(map(is_before_change, folder))
    removed = outdated([*folder, before], keep)
    age = max([at, *(instant_of(name) or 0 for name in folder)]) - at
    assert (before in removed) == (age > max(1, keep.months) * 31 * DAY)
    assert [name for name in removed if name != before] == outdated(folder, keep)  # it counts for no day


def test_what_a_backup_before_a_change_is_called() -> None:
    assert name_of(NIGHT, before=("downgrade", "0004_events")) == (
        "cgos-20260331T033000Z-before-downgrade-to-0004_events.sqlite"
    )
    for name in ("cgos-20260331T033000Z-before-lunch-to-0004.sqlite", "cgos-20260331T033000Z-before-.sqlite"):
        assert instant_of(name) is None
