"""The command line between the server and its web process."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.net.tls.certificates import TlsFiles
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.web.command_line import command, parse

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
    rated = Rated(("gor", "bayes"), initial, {"gor": {"variant": "egf"}, "bayes": {"learned": False}})
    settings = WebSettings(
        server_name=name,
        venues={venue: VenueSettings(port=port, rated=rated, delay_s=2.5) for venue, port in ports.items()},
        bots_host="bots.example.org",
        registration=registration,
        refresh_s=refresh,
        websocket=6868,
        public_url="https://go.example.org",
        proxies=("10.0.0.0/8",),
    )
    files = TlsFiles(certificate="/tls/it's.pem", key="/tls/key", minimum="1.3")
    line = command(Path("/data"), settings, log_format="json", log_level="warning", tls=files)
    assert line[1:3] == ["-m", "cgos_server.web"]
    parsed = parse([*line[3:], "--listen-fd", "7", "--pipe-fd", "9", "--scrape-fd", "11"])
    assert parsed == (Path("/data"), 7, 9, 11, "json", "warning", settings, None, files, None)
    assert list(parsed.settings.ports) == list(ports)


@pytest.mark.parametrize("settings", ["9x9", "", '{"venues":7}'])
def test_settings_that_are_none_are_refused(settings: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse([*("--data", "d", "--listen-fd", "3", "--pipe-fd", "4", "--scrape-fd", "5", "--settings"), settings])
    assert caught.value.code == 2
    assert "these are no settings" in capsys.readouterr().err
