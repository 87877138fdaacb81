"""What concerns the running of a server over the years, as types.

Must not know: where values come from, what they start.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from cgos_protocol.options import Number
from cgos_server.config.values import TimeOfDay
from cgos_server.net.tls.certificates import MinimumTls, TlsFiles
from cgos_server.service.pruning import Kind
from cgos_server.storage.backups.names import Keep

Days = Annotated[float, Number(1, 36_500)]
Periods = Annotated[int, Number(0, 1_000, whole=True)]


class BackupConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Backups that the server takes by itself, and those of `cgos-server db backup` without a file."""

    at: Annotated[
        TimeOfDay,
        "When a backup is taken each day, hours and minutes UTC such as `03:30`; one that was missed follows at the "
        "next start. Empty: never.",
    ] = TimeOfDay()
    folder: Annotated[
        Path,
        "Where they lie. A relative path counts from the data directory; another disk is better, another machine best.",
    ] = Path("backups")
    keep_days: Annotated[Periods, "The last backup of so many days is kept."] = 7
    keep_weeks: Annotated[Periods, "The last backup of so many weeks is kept; the weeks begin on Monday."] = 4
    keep_months: Annotated[
        Periods, "The last backup of so many months is kept. The newest of all is never removed."
    ] = 6

    @property
    def keep(self) -> Keep:
        """Which backups are kept."""
        return Keep(days=self.keep_days, weeks=self.keep_weeks, months=self.keep_months)


class RetentionConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long the database keeps what nothing is computed from; without a key for ever."""

    connections_days: Annotated[
        Days | None,
        "Days that sign-ins and sign-outs are kept, with addresses, after they ended. The last one of each version "
        "stays, without its address.",
    ] = None
    rounds_days: Annotated[
        Days | None,
        "Days that it is kept what pairing passes were decided from. Passes, pairs and reasons stay, but an older pass "
        "cannot be decided again.",
    ] = None
    analyses_days: Annotated[Days | None, "Days that it is kept what bots said about their moves."] = None
    refits_days: Annotated[
        Days | None,
        "Days that every change of a rating or rank by a refit is kept; of older ones the last of each version and day "
        "(UTC) stays.",
    ] = None
    audit_days: Annotated[Days | None, "Days that it is kept who did what to the server."] = None

    def days(self) -> dict[Kind, float]:
        """Kind -> days, of what is not kept for ever."""
        kept = {kind: getattr(self, f"{kind.value}_days") for kind in Kind}
        return {kind: days for kind, days in kept.items() if days is not None}


class TlsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The certificate of every listener that speaks TLS itself: `venue.tls_port`, and `tls` of the others."""

    certificate: Annotated[
        Path | None,
        "File of the certificate (PEM), the server's own first, then those between it and its authority. A changed "
        "file is read again within a minute. A relative path in a file counts from the file's directory.",
    ] = None
    key: Annotated[Path | None, "File of its key (PEM), without a password; a path as above."] = None
    minimum: Annotated[MinimumTls, "The oldest version of TLS that is spoken."] = "1.2"

    @property
    def files(self) -> TlsFiles | None:
        """None where there is no certificate."""
        if self.certificate is None or self.key is None:
            return None
        return TlsFiles(certificate=str(self.certificate), key=str(self.key), minimum=self.minimum)
