"""The command line between the server and its web process."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.web.settings import Rated, WebSettings, command, parse

names = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,31}\Z")
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=60)


@given(
    name=texts,
    ports=st.dictionaries(names, st.integers(1, 65_535), max_size=4),
    registration=st.sampled_from(["open", "approval", "closed"]),
    refresh=st.integers(0, 3_600),
    initial=st.floats(-10_000, 10_000),
)
def test_settings_survive_the_command_line(
    name: str, ports: dict[str, int], registration: str, refresh: int, initial: float
) -> None:
    rated = {
        venue: Rated(("gor", "bayes"), initial, {"gor": {"variant": "egf"}, "bayes": {"learned": False}})
        for venue in ports
    }
    settings = WebSettings(name, ports, "bots.example.org", registration, refresh, 6868, rated)
    line = command(Path("/data"), settings, "json", "warning")
    assert line[1:3] == ["-m", "cgos_server.web"]
    given = parse([*line[3:], "--listen-fd", "7", "--pipe-fd", "9"])
    assert given == (Path("/data"), 7, 9, "json", "warning", settings)
    assert list(given.settings.ports) == list(ports)


@pytest.mark.parametrize("rated", ["9x9", "9x9=", '9x9={"systems":7}'])
def test_a_venue_rated_by_nonsense_is_refused(rated: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(["--data", "d", "--listen-fd", "3", "--pipe-fd", "4", "--rated", rated])
    assert caught.value.code == 2
    assert "is not NAME=JSON" in capsys.readouterr().err


@pytest.mark.parametrize("venue", ["9x9", "=6809", "9x9=", "9x9=port"])
def test_a_venue_without_a_port_is_refused(venue: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(["--data", "d", "--listen-fd", "3", "--pipe-fd", "4", "--venue", venue])
    assert caught.value.code == 2
    assert "is not NAME=PORT" in capsys.readouterr().err
