"""What is measured of backups: the newest one, how long the server's last one took, how many failed.

Must not know: how backups are taken. Belongs to the thread of the event loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric


class BackupMeter:
    """One a server. What is not known yet has no sample.

    :ivar failures: backups that the server could not take
    """

    def __init__(self) -> None:
        self.failures = 0
        self._at_ms: int | None = None
        self._size: int | None = None
        self._seconds: float | None = None

    def there(self, at_ms: int, size: int) -> None:
        """The newest in the folder, whoever took it: its instant (Unix milliseconds), and its bytes."""
        self._at_ms = at_ms
        self._size = size

    def taken(self, at_ms: int, size: int, seconds: float) -> None:
        """The server has taken one within so many seconds."""
        self.there(at_ms, size)
        self._seconds = seconds

    def collect(self) -> Iterator[Metric]:
        """The families, for the registry."""
        at = None if self._at_ms is None else self._at_ms / 1000
        for name, text, value in (
            ("cgos_backup_last_success_timestamp_seconds", "Unix time of the newest backup in the folder.", at),
            ("cgos_backup_size_bytes", "Size of the newest backup in the folder.", self._size),
            ("cgos_backup_duration_seconds", "Time the server's last backup took.", self._seconds),
        ):
            yield GaugeMetricFamily(name, text, value=value)
        yield CounterMetricFamily("cgos_backup_failures_total", "Backups that failed.", value=self.failures)
