"""When the server takes a backup, in simulated time; and one taken by a real process of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs
from support.live.simulated import SimulatedTime

from cgos_server.live.processes.backups import Attempt, BackupSchedule, Plan, in_child
from cgos_server.observability.metrics import Metrics
from cgos_server.storage import schema
from cgos_server.storage.backups import folder
from cgos_server.storage.backups.folder import Failed
from cgos_server.storage.backups.names import Keep, name_of
from cgos_server.storage.backups.taking import Backup

HOUR_US = 3_600_000_000
KEEP = Keep(days=3, weeks=0, months=0)
HALF_PAST_THREE = 3 * 60 + 30


class World:
    """A schedule whose backups are files with a word in them, or fail."""

    def __init__(self, place: Path) -> None:
        self.time = SimulatedTime()
        self.registry = CollectorRegistry()
        self.metrics = Metrics(self.registry, "1")
        self.plan = Plan(place / "backups", HALF_PAST_THREE, KEEP)
        self.failure: Failed | None = None
        self.attempts: list[datetime] = []
        self.schedule = BackupSchedule(
            place / "cgos.sqlite",
            lambda: self.plan,
            time=self.time,
            meter=self.metrics.backups,
            perform=self.perform,
        )

    async def perform(self, _attempt: Attempt) -> Backup | Failed:
        now = self.time.wall_ms()
        self.attempts.append(datetime.fromtimestamp(now // 1000, UTC))
        if self.failure is not None:
            return self.failure
        self.plan.folder.mkdir(exist_ok=True)
        file = self.plan.folder / name_of(now)
        file.write_text("backup")
        return Backup(file=str(file), at=now, size_bytes=6, seconds=1.5)

    async def hours(self, hours: float) -> None:
        """Let time pass with a look each quarter of an hour."""
        for _ in range(round(hours * 4)):
            self.time.advance(HOUR_US // 4)
            await self.schedule.look()

    def value(self, name: str) -> float | None:
        return self.registry.get_sample_value(f"cgos_backup_{name}")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_the_first_at_once_then_one_each_night(world: World) -> None:
    await world.schedule.look()
    await world.hours(72)
    first, *nights = world.attempts
    assert first == datetime(2023, 11, 14, 22, 30, tzinfo=UTC)
    assert [(night.day, night.hour, night.minute) for night in nights] == [(15, 3, 30), (16, 3, 30), (17, 3, 30)]
    assert world.value("last_success_timestamp_seconds") == nights[-1].timestamp()
    assert (world.value("duration_seconds"), world.value("size_bytes")) == (1.5, 6)
    assert world.value("failures_total") == 0


async def test_what_was_missed_is_made_up_at_the_next_start(world: World, tmp_path: Path) -> None:
    await world.schedule.look()
    later = World(tmp_path)
    later.time.advance(2 * HOUR_US)  # half past midnight: none was missed
    await later.schedule.look()
    assert later.attempts == []
    assert later.value("last_success_timestamp_seconds") == world.attempts[0].timestamp()
    assert later.value("duration_seconds") is None
    much_later = World(tmp_path)
    much_later.time.advance(40 * HOUR_US)
    await much_later.schedule.look()
    assert len(much_later.attempts) == 1


async def test_a_failure_is_counted_said_and_tried_again_in_an_hour(world: World) -> None:
    world.failure = Failed(why="No room", remedy="Free some space.")
    with capture_logs() as logs:
        await world.schedule.look()
        await world.hours(2.5)
    assert len(world.attempts) == 3
    assert world.value("failures_total") == 3
    assert world.value("last_success_timestamp_seconds") is None
    assert logs[0] == {
        "event": "no backup could be taken; it is tried again in an hour",
        "why": "No room",
        "remedy": "Free some space.",
        "log_level": "warning",
    }
    world.failure = None
    await world.hours(24)
    assert len(world.attempts) == 5


async def test_one_by_command_counts_and_without_an_hour_there_is_none(world: World) -> None:
    world.plan = world.plan._replace(minute=None)
    await world.hours(48)
    assert world.attempts == []
    world.plan.folder.mkdir()
    (world.plan.folder / name_of(world.time.wall_ms())).touch()
    world.plan = world.plan._replace(minute=HALF_PAST_THREE)
    await world.schedule.look()
    assert world.attempts == []
    assert world.value("size_bytes") == 0


async def test_a_backup_of_a_wrong_clock_neither_holds_one_up_nor_asks_for_more(world: World) -> None:
    world.plan.folder.mkdir()
    (world.plan.folder / name_of(world.time.wall_ms() + 10**11)).touch()
    await world.schedule.look()
    assert len(world.attempts) == 1
    await world.hours(24)
    assert len(world.attempts) == 2
    assert world.value("last_success_timestamp_seconds") == world.attempts[-1].timestamp()


async def test_a_folder_that_cannot_be_read_is_a_failure(world: World) -> None:
    world.plan.folder.write_text("a file")
    world.failure = Failed(why="not a folder", remedy=None)
    await world.schedule.look()
    assert world.value("failures_total") == 1


async def test_taken_in_a_process_of_its_own(tmp_path: Path) -> None:
    database = tmp_path / "cgos.sqlite"
    schema.prepare(database)
    world = World(tmp_path)
    metrics = world.metrics
    schedule = BackupSchedule(database, lambda: world.plan, time=world.time, meter=metrics.backups, perform=in_child)
    with capture_logs() as logs:
        await schedule.look()
    [taken] = folder.listed(world.plan.folder)
    assert taken.at == world.time.wall_ms() // 1000 * 1000
    assert logs[0]["event"] == "backup taken"
