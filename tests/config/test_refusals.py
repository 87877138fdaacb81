"""Whatever is wrong with a configuration is said in words, all of it at once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.config.configs import VENUE, problems

from cgos_server.config.keys import explain
from cgos_server.config.loader import load
from cgos_server.config.problems import ConfigErrors
from cgos_server.config.schema import Config
from cgos_server.config.values import Span
from cgos_server.config.venues import venue_value
from cgos_server.core.pairing.registry import METHODS, matchmaker

# -- what is wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[server]\nregistation = 'open'",
         "server.registation: is no key that the server knows. Did you mean registration?"),
        ("[wbe]\nport = 1", "wbe: is no key that the server knows. Did you mean web?"),
        ("[server]\nformula = 'one'",
         "server.formula: is no key that the server knows. It belongs into [venue.pairing]."),
        ("[health]\nqqqq = 1", "health.qqqq: is no key that the server knows. Known here: host, port, tls."),
        ("[web]\nport = '80'", 'web.port: "80" is not possible. Give a whole number from 0 to 65535.'),
        ("[web]\nport = 65536", "web.port: 65536 is not possible. Give a whole number from 0 to 65535."),
        ("[web]\nport = true", "web.port: true is not possible. Give a whole number from 0 to 65535."),
        ("[web]\nport = [80]", "web.port: a list is not possible. Give a whole number from 0 to 65535."),
        ("[web]\nhost = ''", 'web.host: "" is not possible. Give text that is not empty.'),
        ("[web]\nmode = 'on'", 'web.mode: "on" is not possible. Give process, inline or off.'),
        ("[server]\nname = ''", 'server.name: "" is not possible. Give text of 1 to 60 characters.'),
        ("[server]\ndata = ''", 'server.data: "" is not possible. Give a path.'),
        ("[server]\ndatabase = 'postgresql://cgos:secret@h'", "server.database: this value is not possible. "
         "Give nothing, or a URL such as postgresql://user@host:5432/name."),
        ("[server]\ndatabase = 5", "server.database: this value is not possible. "
         "Give nothing, or a URL such as postgresql://user@host:5432/name."),
        ("[server]\ndrain_limit_s = -1", "server.drain_limit_s: -1 is not possible. Give a number from 0 to 1000000."),
        ("[server]\ndrain_limit_s = nan",
         "server.drain_limit_s: nan is not possible. Give a number from 0 to 1000000."),
        ("[server]\ncommit_timeout_s = 0",
         "server.commit_timeout_s: 0 is not possible. Give a number above 0 up to 1000000."),
        ("server = 3", "server: 3 is not a table. Write its keys below [server] or as { key = value }."),
        ("[limits]\nconnections = 5", "limits.connections_per_address: 2000 is more than all connections (5). "
         "Lower it, or raise limits.connections."),
        ("[listen]\nproxy_protocol = true", "listen.proxy_protocol: no proxy is named in listen.proxies, and only "
         "there a header is believed. Name the addresses of the proxies in listen.proxies."),
        ("[web]\nport = 6809", "web.port: port 6809 belongs to venue 9x9 already. Give each listener its own port."),
        ("[websocket]\nport = 6813",
         "websocket.port: port 6813 belongs to venue 13x13 already. Give each listener its own port."),
        ("[health]\nport = 8080",
         "health.port: port 8080 belongs to the pages already. Give each listener its own port."),
        ("[venue]\nname = 'a'",
         "venue: venues are a list of tables. Begin each venue with [[venue]], in two brackets."),
        ("[cluster]\nnode = 'a'\n[server]\ndatabase = 'postgresql://h/n'", "cluster.node: a cluster's commits wait for "
         'PostgreSQL\'s disk. Set server.durability = "power", or leave the keys of [cluster] out.'),
        ("[cluster]\nany_build = true\n[server]\ndurability = 'power'", "cluster.any_build: a cluster keeps its "
         "database in PostgreSQL. Set server.database, or leave the keys of [cluster] out."),
        ("[cluster]\nnode = '../a'\n[server]\ndurability = 'power'\ndatabase = 'postgresql://h/n'",
         "cluster.node: '../a' is no name of a node. Use letters, digits, '_', '.' and '-'."),
        ("[cluster]\nnode = 'a'\n[web]\nmode = 'inline'\n[server]\ndurability = 'power'\ndatabase = 'postgresql://h/n'",
         "web.mode: the pages of a cluster need a process of their own. Set it to \"process\", or to \"off\"."),
        ("[cluster]\nttl_s = 0.5", "cluster.ttl_s: 0.5 is not possible. Give a number from 1 to 300."),
        ("[cluster]\nnode = 'a'\ngroups = 'main, large'\n[server]\ndurability = 'power'\ndatabase = 'postgresql://h/n'",
         "cluster.groups: no venue is in a group large. There are: main."),
        ("[[venue]]\nname = 'a'\nport = 1\nsize = 9\ngroup = 'large'\ntime = {main = '5m'}",
         "venue.a.group: only the nodes of a cluster have groups of venues. Set cluster.node, or leave the key out."),
        ("venue = []", "venue: venues are a list of tables. Begin each venue with [[venue]], in two brackets."),
    ],
)  # fmt: skip
def test_one_problem_in_a_file(write: Any, text: str, expected: str) -> None:
    path = write(text)
    assert problems(path) == [f"{path}: {expected}"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("port = 7000", "", "port: is missing. Add the key: The port where its bots connect; 0 takes any free one."),
        ('time = { main = "1m" }', "", "time: is missing. Add the key: time = { ... }, as in [venue.time]."),
        ("size = 5", "size = 26", "size: A board of size 26 is not possible. Set size to a number from 2 to 25."),
        ("size = 5", "size = 5\nkomi = 7.3", "komi: 7.3 is no multiple of 0.5. Give a komi such as 7 or 7.5."),
        ("size = 5", "size = 5\ngame = 'chess'", 'game: There is no game "chess". Choose go.'),
        ("size = 5",
         "size = 5\nmove_limit = 0", "move_limit: 0 is not possible. Give a whole number from 1 to 1000000."),
        ('"1m"', '"1 month"', 'time.main: "1 month" is not possible. Give seconds, or text such as 5m or 1h30m.'),
        ('{ main = "1m" }', '"1m"',
         'time: "1m" is not a table. Write its keys below [venue.time] or as { key = value }.'),
        ('{ main = "1m" }', "{ main = '1m', system = 'fischer' }",
         "time: fischer time needs increment greater than 0. Change it and start again."),
        ('{ main = "1m" }', "{ main = '1m', stones = 5 }",
         "time: absolute time has no stones. Leave it out, or choose another time system."),
        ("size = 5", "size = 5\npairing = { formula = 'half' }",
         "pairing: information has no option 'formula'. That is an option of birk. Choose from: "
         + ", ".join(matchmaker("information", {}).options) + "."),
        ("size = 5", "size = 5\npairing = { method = 'x' }",
         f"pairing: There is no pairing method 'x'. Choose one of: {', '.join(METHODS)}."),
        ("size = 5", "size = 5\nrating = { system = 'x' }",
         "rating: There is no rating system 'x'. Choose one of: bayes, whole-history, cgos-elo, gor, "
         "egf2021, glicko2."),
        ("size = 5", "size = 5\nrating = { system = 'cgos-elo', min_k = 300 }",
         "rating: cgos-elo: min_k must be above 0 and below max_k (200). Change it and start again."),
        ("size = 5", "size = 5\nrating = { min_k = 2 }",
         "rating.min_k: min_k is an option of cgos-elo, which this venue does not use. "
         'Leave it out, or say system = "cgos-elo".'),
        ("size = 5", "size = 5\nrating = { views = 'gor, bayes' }",
         "rating.views: a rating system is named twice. Leave out of the views what is there already."),
        ("size = 5", "size = 5\nrating = { views = ['gor'], gor_variant = 'x' }",
         "rating: gor: variant must be one of thesis, egf, egf_half_eps, not 'x'. Change it and "
         "start again."),
    ],
)  # fmt: skip
def test_one_problem_in_a_venue(write: Any, old: str, new: str, expected: str) -> None:
    assert old in VENUE
    path = write(VENUE.replace(old, new))
    assert problems(path) == [f"{path}: venue.small.{expected}"]


def test_names_of_venues(write: Any) -> None:
    path = write(VENUE.replace('"small"', '"a b"'))
    words = "Give 1 to 32 letters, digits, _, . or -, beginning with a letter or digit."
    assert problems(path) == [f'{path}: venue.a b.name: "a b" is not possible. {words}']
    path = write(VENUE + VENUE.replace("small", "SMALL").replace("7000", "7001"))
    assert problems(path) == [
        f"{path}: venue.SMALL.name: the name is taken by another venue (capitals do not count). "
        "Give each venue its own name."
    ]


def test_two_listeners_may_share_a_port_on_different_addresses(write: Any) -> None:
    text = "[listen]\nbots_host = '127.0.0.2'\n[web]\nport = 7000\n" + VENUE
    assert load(write(text)).web.port == 7000
    assert len(problems(write(text.replace("127.0.0.2", "::")))) == 1


def test_a_port_of_pages_that_are_off_is_free(write: Any) -> None:
    assert load(write("[web]\nport = 7000\nmode = 'off'\n" + VENUE)).web.enabled is False


def test_any_free_port_may_be_asked_for_twice(write: Any) -> None:
    assert (
        load(write(VENUE.replace("7000", "0") + VENUE.replace("7000", "0").replace("small", "big"))).venue[1].port == 0
    )


def test_all_problems_are_told_at_once(write: Any) -> None:
    path = write("[server]\nnmae = 'x'\n[web]\nport = -1\n" + VENUE.replace("size = 5", "size = 'x'"))
    lines = problems(path, {"CGOS_WEB__MODE": "on"}, **{"health.port": 70_000})
    assert [line.split(": ")[0] + ": " + line.split(": ")[1] for line in lines] == [
        f"{path}: server.nmae",
        f"{path}: web.port",
        'environment variable CGOS_WEB__MODE: "on" is not possible. Give process, inline or off.',
        "command line: health.port",
        f"{path}: venue.small.size",
    ]


def test_problems_of_the_environment() -> None:
    assert problems(None, {"CGOS_WEB__PROT": "1"}) == [
        "environment variable CGOS_WEB__PROT: is no key that the server knows. Did you mean port?"
    ]
    assert problems(None, {"CGOS_VENUE__7X7__PORT": "1"}) == [
        "environment variable CGOS_VENUE__7X7__PORT: there is no venue '7x7'. "
        "A key comes after the venue's name; the venues are 9x9, 13x13, 19x19."
    ]
    assert problems(None, {"CGOS_VENUE__9X9": "1"}) == [
        "environment variable CGOS_VENUE__9X9: this is a whole venue. "
        "A key comes after the venue's name; the venues are 9x9, 13x13, 19x19."
    ]
    assert problems(None, {"CGOS_VENUE__9X9__TIME": "5m"}) == [
        'environment variable CGOS_VENUE__9X9__TIME: "5m" is not a table. '
        "Write its keys below [venue.time] or as { key = value }."
    ]


def test_files_that_cannot_be_read(tmp_path: Path, write: Any) -> None:
    missing = tmp_path / "none.toml"
    assert problems(missing) == [
        f"{missing}: cannot be read (No such file or directory). "
        "Give the path of a file that can be read; `cgos-server init` writes a new one."
    ]
    path = write("[server\n")
    (problem,) = problems(path)
    assert problem.startswith(f"{path}: is not TOML: ")
    assert "line 1" in problem
    path.write_bytes(b"[server]\nname = '\xff'\n")
    assert problems(path) == [f"{path}: is not UTF-8 text. Save it as UTF-8."]


def test_an_environment_value_below_a_wrong_value_of_the_file(write: Any) -> None:
    path = write("web = 5\n")
    assert problems(path, {"CGOS_WEB__PORT": "80"}) == [
        f"{path}: web: 5 is not a table. Write its keys below [web] or as {{ key = value }}."
    ]


# -- whatever people write, it loads or is refused with words


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


WORDS = sorted({key.name for key in explain()} | {part for key in explain() for part in key.table.split(".")})
scalars = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(0, 20)
    | st.floats()
    | st.text("ab9m s\u00e9", max_size=5)
    | st.sampled_from(["go", "birk", "fischer", "5m", "one", "rolling", "off", "9x9"])
)
keys = st.sampled_from(WORDS) | st.text("abc_", min_size=1, max_size=4)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6), max_leaves=12
)


def outcome(path: Path | None, env: Mapping[str, str]) -> Config | ConfigErrors:
    try:
        return load(path, env)
    except ConfigErrors as errors:
        return errors


@settings(max_examples=60)
@given(st.dictionaries(keys, values, max_size=5))
@example({"venue": [{"name": "a", "port": 1, "size": 9, "komi": float("inf"), "time": {"main": 1}}]})
@example({"venue": [{"name": 3}, 4]})
def test_any_file_loads_or_is_refused(tables: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "any.toml"
        path.write_text("\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in tables.items()), "utf-8")
        loaded = outcome(path, {})
        if isinstance(loaded, Config):
            assert [venue_value(venue, 1) for venue in loaded.venue]
        else:
            assert all(str(problem).startswith(str(path)) for problem in loaded.problems)


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.lists(keys, min_size=1, max_size=4).map(lambda words: "CGOS_" + "__".join(words).upper()),
        scalars.map(str),
        max_size=4,
    )
)
def test_any_environment_loads_or_is_refused(env: dict[str, str]) -> None:
    assert isinstance(outcome(None, env), Config | ConfigErrors)


@given(st.integers(0, 10**14))
def test_every_length_of_time_can_be_read_back(ms: int) -> None:
    assert Span.parse(str(Span(ms * 1000))) == Span(ms * 1000)
