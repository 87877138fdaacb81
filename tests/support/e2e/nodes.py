"""Real nodes of a cluster on one real PostgreSQL, each with a directory and ports of its own."""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.e2e.processes import ServerProcess, end, free_port, until
from support.storage.postgres_fixtures import ask


class NodeProcess(ServerProcess):
    """`cgos-server serve` as the node `name`, in a directory of its own below `directory`, on the database at `url`.

    With `second` there is another 9x9 venue of this name, in a group that is called like it, whose port is
    `second_port`. With `key`, the file of the cluster's key, it takes commands that are given to other nodes.
    """

    def __init__(
        self, directory: Path, name: str, url: str, *, ttl_s: float, second: str = "", key: Path | None = None
    ) -> None:
        self.name = name
        self.database = url
        own = directory / name
        own.mkdir()
        super().__init__(own, settings=f'database = "{url}"\ndurability = "power"\ndrain_limit_s = 0\n')
        self.configure(web='mode = "off"')
        self.second_port = free_port()
        with self.config.open("a") as config:
            config.write(f'\n[cluster]\nnode = "{name}"\naddress = "localhost"\nttl_s = {ttl_s}\n')
            if key is not None:
                config.write(f'control_port = {free_port()}\nkey = "{key}"\n')
            if second:
                config.write(
                    f'[[venue]]\nname = "{second}"\ngroup = "{second}"\nport = {self.second_port}\n'
                    'size = 9\nkomi = 7.0\ntime = { system = "absolute", main = "2m" }\n'
                    "pairing = { interval_s = 0.2, patience_s = 0.5, settle_s = 0.05 }\n"
                )

    def share_ports(self, other: NodeProcess) -> None:
        """Listen for bots where `other` does, when it does not."""
        text = self.config.read_text()
        for name in ("port", "ws_port"):
            text = text.replace(f"port = {getattr(self, name)}\n", f"port = {getattr(other, name)}\n")
            setattr(self, name, getattr(other, name))
        self.config.write_text(text)

    def serve(self, *options: str) -> None:
        """Start; whoever calls waits for what it wants."""
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [self.python, "-m", "cgos_server", "serve", "--config", str(self.config), *options],
                stdout=output,
                stderr=output,
                cwd=self.directory,
            )

    def stand_by(self) -> None:
        """Start it beside a node that serves, and wait until it waits."""
        self.serve("--standby")
        until(self.stands_by, 30, f"node {self.name} does not stand by:\n{self.tail()}")

    def stands_by(self) -> bool:
        """Whether it says so."""
        assert self.process is not None
        assert self.process.poll() is None, self.tail()
        return "standing by" in self.get("/readyz")[1]

    def serves(self) -> bool:
        """Whether it says so."""
        return self.get("/readyz")[0] == 200

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        assert not parameters
        return ask(self.database, sql)


def race(ports: tuple[int, int], name: str) -> list[str]:
    """Two register one name at once, at two nodes, with two passwords; the errors that they are told."""
    with contextlib.ExitStack() as stack:
        bots = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for port in ports]
        lines = [stack.enter_context(bot.makefile("r")) for bot in bots]
        for answer in ("e1 racer", name):
            for bot, said in zip(bots, lines, strict=True):
                said.readline()
                bot.sendall(f"{answer}\n".encode())
        for said in lines:
            said.readline()
        for port, bot in zip(ports, bots, strict=True):
            bot.sendall(f"password-{port}\n".encode())
        errors: list[str] = []
        while told := select.select(bots, [], [], 0.05 if errors else 20)[0]:  # who is let in may hear of a game
            for bot, said in zip(bots, lines, strict=True):
                line = said.readline() if bot in told else ""
                if line.startswith("Error"):
                    errors.append(line)
                    bots, lines = (
                        [each for each in bots if each is not bot],
                        [each for each in lines if each is not said],
                    )
        return errors


@contextlib.contextmanager
def nodes(directory: Path, url: str, *names: str, **options: Any) -> Iterator[list[NodeProcess]]:
    """Nodes that were not started yet, see :class:`NodeProcess`; those that run at the end of the block are ended."""
    made = [NodeProcess(directory, name, url, **options) for name in names]
    try:
        yield made
    finally:
        for node in made:
            if node.process is not None:
                node.process.send_signal(signal.SIGCONT)  # who is stopped cannot end
                end(node.process)
