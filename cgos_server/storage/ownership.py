"""Whose a new file is: where root gives a command on a server's data, the server must be able to use what comes of it.

So it belongs to whoever owns the directory in which it lies. SQLite does the same with its own files. Must not know:
what is in the file.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def give_to_owner(path: Path) -> None:
    """Have a file or directory that root made belong to the owner of the directory around it; a link is not followed.
    Others cannot do so, and need not; nor can root everywhere, as on NFS. Raises OSError."""
    if os.geteuid() == 0:
        around = path.parent.stat()
        with contextlib.suppress(PermissionError):
            os.chown(path, around.st_uid, around.st_gid, follow_symlinks=False)
