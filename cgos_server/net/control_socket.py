"""One line in, one line out over a Unix domain socket that only the server's own user may open.

It lies in the data directory; where that path is too long for a socket, in a private temporary directory whose name
stands in a file there. Must not know: what the lines say.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from cgos_protocol.errors import Code, Conflict, NotFound, OurFault, Unavailable
from cgos_server.net.conversations import ANSWER_MAX, ANSWER_S, REQUEST_MAX, Conversations, Handler, exchange

SOCKET = "control.sock"
POINTER = "control.path"
PATH_MAX = 100
"""Bytes of a socket's path; systems take 104 to 108."""

_PROBE_S = 1.0


@contextlib.asynccontextmanager
async def serve(directory: Path, handler: Handler) -> AsyncIterator[Path]:
    """Listen for the server on `directory` while the block runs; gives the socket's path.

    What a dead server left there is replaced. At the end of the block conversations under way are broken off and the
    socket is removed.

    :param handler: takes a request's line and gives the answer's, both without the line end; must not raise
    :raises Refused: (``in-use``) where another server answers there
    """
    await _clear(directory)
    path, pointer = directory / SOCKET, None
    if len(os.fsencode(path.absolute())) > PATH_MAX:
        pointer = directory / POINTER
        path = Path(tempfile.mkdtemp(prefix="cgos-")) / SOCKET
    async with Conversations(handler) as conversations:
        server = await asyncio.start_unix_server(conversations.begin, sock=_bound(path), limit=REQUEST_MAX)
        try:
            if pointer is not None:
                _point(pointer, path)
            yield path
        finally:
            server.close()
            _remove(directory, path)


async def call(directory: Path, request: bytes, timeout_s: float = ANSWER_S) -> bytes:
    """Send one line to the server on `directory`; its answer.

    :raises Refused: (``no-server``) where no server listens there, (``no-directory``) where `directory` cannot be one,
        (``no-permission``) where it belongs to somebody else
    :raises OurFault: where it does not answer in time, or breaks off
    """
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_unix_connection(_socket_path(directory), limit=ANSWER_MAX)
            line = await exchange(reader, writer, request)
    except TimeoutError as error:
        raise OurFault(f"The server on {directory} did not answer within {timeout_s:g} seconds.") from error
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise Unavailable(
            Code.NO_SERVER, f"No server runs on {directory}. Start one with: cgos-server serve"
        ) from error
    except NotADirectoryError as error:
        raise NotFound(
            Code.NO_DIRECTORY,
            f"{directory} cannot be used as a data directory: it is a file, or lies below one. Give the right --data.",
        ) from error
    except PermissionError as error:
        raise NotFound(
            Code.NO_PERMISSION, f"The server on {directory} belongs to another user. Use that user's account."
        ) from error
    except (OSError, ValueError) as error:
        raise OurFault(f"The talk with the server on {directory} broke off: {error}.") from error
    if not line.endswith(b"\n"):
        raise OurFault(f"The server on {directory} broke off before it had answered.")
    return line[:-1]


def listener(directory: Path) -> int:
    """The process that listens for the server on `directory`, whether it answers or not; 0 where none does, or the
    system does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(_PROBE_S)
        try:
            peer.connect(_socket_path(directory))
            # The process that made the socket listen: its first number is that one's.
            return int.from_bytes(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 4), sys.byteorder)
        except OSError:
            return 0


def _bound(path: Path) -> socket.socket:
    """A socket at `path` that only this user may open, from its first instant."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror, str(path)) from error  # the system does not name it
    finally:
        os.umask(mask)
    listener.setblocking(False)
    return listener


def _socket_path(directory: Path) -> str:
    """Where the server on `directory` listens."""
    try:
        return (directory / POINTER).read_text("utf-8")
    except FileNotFoundError:
        return str(directory / SOCKET)


async def _clear(directory: Path) -> None:
    """Remove what a dead server left; raises Refused where one is alive."""
    left = Path(_socket_path(directory))
    try:
        async with asyncio.timeout(_PROBE_S):
            _, writer = await asyncio.open_unix_connection(left)
    except TimeoutError as error:
        raise Conflict(Code.IN_USE, f"Another server on {directory} does not answer. Stop it first.") from error
    except OSError:
        _remove(directory, left)
        return
    writer.close()
    raise Conflict(Code.IN_USE, f"Another server runs on {directory} already. Stop it, or give this one its own data.")


def _point(pointer: Path, path: Path) -> None:
    """Write down where the socket is, all at once."""
    written = pointer.with_suffix(".new")
    written.write_text(str(path), "utf-8")
    written.replace(pointer)


def _remove(directory: Path, path: Path) -> None:
    """Remove a socket and what led to it, and nothing that is not one."""
    if path.is_socket():
        path.unlink()
    if path.parent != directory:
        (directory / POINTER).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # gone, or not empty: it was only a name in a file
            path.parent.rmdir()
