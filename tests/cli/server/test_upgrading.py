"""What `cgos-server upgrade` says of a program that took over, or stands by as another node was faster."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.api.people import Upgraded
from cgos_protocol.errors import Code, Unavailable
from cgos_server.cli.commands.answers import show
from cgos_server.cli.server import upgrading
from cgos_server.service.commands.server import Upgrade
from cgos_server.service.control import ServerStatus

CHECKED = Upgraded(before="1.0", after="2.0", notes=[])


def status(**more: Any) -> ServerStatus:
    usual: dict[str, Any] = {
        "pid": 7, "version": "2.0", "up_s": 0.0, "ready": True, "draining": False, "venues": [], "games": [],
        "bots": [], "moves": 0, "ended": {}, "warnings": 0, "errors": 0, "web": "", "health": "",
    }  # fmt: skip
    return ServerStatus(**usual | more)


@pytest.mark.parametrize(
    ("after", "stdout", "stderr"),
    [
        (status(pause_s=1.25), "cgos-server 2.0 took over from 1.0; nobody was served for 1.2 s.\n", ""),
        (
            status(standing_by="node b holds the venues", ready=False),
            "cgos-server 2.0 took over from 1.0.\n",
            "The new program stands by: node b holds the venues.\n",
        ),
    ],
    ids=["serves", "stands by"],
)
def test_it_waits_until_the_new_program_has_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], after: ServerStatus, stdout: str, stderr: str
) -> None:
    answers = [Unavailable(Code.NO_SERVER, "Nobody listens."), status(version="1.0", up_s=9_000.0), after]

    def ask(_setup: object, _command: object) -> ServerStatus:
        answer = answers.pop(0)
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    monkeypatch.setattr(upgrading, "ask_server", ask)
    nothing: Any = None
    show(Upgrade(), upgrading._served(nothing, CHECKED))
    printed = capsys.readouterr()
    assert printed.out == stdout
    assert printed.err.endswith(stderr)
    assert answers == []
