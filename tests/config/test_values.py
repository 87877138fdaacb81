"""Where values come from, what they become, what the first start fixes, and the words about keys."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from support.config.configs import VENUE
from support.storage.subjects import Subjects

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import ConfigError
from cgos_protocol.games import registry as games
from cgos_protocol.games.base import Ko, Ruleset
from cgos_protocol.options import Option, plain_type
from cgos_server.config.keys import explain, keys_markdown, template
from cgos_server.config.loader import load
from cgos_server.config.pairing import PairingConfig
from cgos_server.config.problems import ConfigErrors
from cgos_server.config.schema import Config, RatingConfig, VenueConfig
from cgos_server.config.system_keys import rating_options
from cgos_server.config.values import Networks, Options, PublicAddress, Span, WebSocketUrl
from cgos_server.config.venues import check_fixed, enroll_venues, fixed, venue_value
from cgos_server.core.pairing.methods.birk import BYES
from cgos_server.core.pairing.methods.formula import FORMULAS
from cgos_server.core.pairing.registry import METHODS, matchmaker, matchmakers
from cgos_server.core.pairing.shared_options import SHARED
from cgos_server.core.rating.registry import SYSTEMS, systems
from cgos_server.core.venue import PairingSettings, Policy, Venue
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.reading.answers import VenueRow
from cgos_server.storage.sharing import Alone
from cgos_server.storage.writing.records import Record, VenueAdded
from cgos_server.web.command_line import command

# -- what runs without any configuration


def test_without_configuration_the_three_boards_of_cgos_run() -> None:
    config = load()
    assert [(v.name, v.port, v.size, v.komi, str(v.time.main)) for v in config.venue] == [
        ("9x9", 6809, 9, 7.0, "5m"),
        ("13x13", 6813, 13, 7.5, "10m"),
        ("19x19", 6819, 19, 7.5, "15m"),
    ]
    assert config.server.data == Path.cwd() / "cgos-data"
    assert config == Config(server=config.server)
    assert (config.listen.bots_host, config.web.host, config.health.host) == ("", "127.0.0.1", "127.0.0.1")
    assert (config.web.port, config.health.port, config.server.drain_limit_s) == (8080, 9809, 60)


def test_a_venue_becomes_the_cores_value() -> None:
    venue = load().venue[0]
    assert venue_value(venue, 4) == Venue(
        id=4,
        name="9x9",
        rules=Ruleset(game="go", size=9, komi2=14, ko=Ko.POSITIONAL, suicide=False),
        time=TimeControl(system=TimeSystem.ABSOLUTE, main=300_000_000, lag=250_000),
        move_limit=243,
        first_move_limit=300_000_000,
        pairing=PairingSettings(
            policy=Policy.ROLLING, method="information", options={}, interval=1_000_000, settle=1_000_000
        ),
        rating_options={"bayes": {}},
        initial=1800.0,
        ready_limit=60_000_000,
        return_grace=120_000_000,
        void_after=900_000_000,
    )


def test_every_key_of_a_venue_arrives(write: Any) -> None:
    path = write(
        """
        [[venue]]
        name = "other"
        port = 0
        size = 7
        komi = -3.5
        ko = "situational"
        suicide = true
        time = { system = "byoyomi", main = 90, period = "30s", periods = 3, lag_s = 0.1, lag_bank_s = 2 }
        move_limit = 99
        first_move_limit_s = 12.5
        ready_limit_s = 5
        return_grace_s = 0
        void_after_s = 60
        initial = 1000
        [venue.pairing]
        policy = "barrier"
        interval_s = 15
        patience_s = 0
        settle_s = 3
        method = "birk"
        same_owner = "free"
        max_expected = 0.9
        suspend_after = 0
        formula = "sqrt"
        bye = "natural"
        avoid_last = false
        [venue.rating]
        system = "cgos-elo"
        views = ["bayes", "gor"]
        anchor_sd = 90
        gor_eps = 0.016
        compat = true
        min_k = 2
        max_k = 100
        provisional_k = 20
        """
    )
    assert venue_value(load(path).venue[0], 1) == Venue(
        id=1,
        name="other",
        rules=Ruleset(game="go", size=7, komi2=-7, ko=Ko.SITUATIONAL, suicide=True),
        time=TimeControl(
            system=TimeSystem.BYOYOMI, main=90_000_000, period=30_000_000, periods=3, lag=100_000, lag_bank=2_000_000
        ),
        move_limit=99,
        first_move_limit=12_500_000,
        pairing=PairingSettings(
            policy=Policy.BARRIER,
            method="birk",
            options={
                "formula": "sqrt",
                "bye": "natural",
                "avoid_last": False,
                "same_owner": "free",
                "max_expected": 0.9,
                "patience_s": 0.0,
            },
            interval=15_000_000,
            settle=3_000_000,
            suspend_after=0,
        ),
        rating="cgos-elo",
        views=("bayes", "gor"),
        rating_options={
            "cgos-elo": {"compat": True, "min_k": 2.0, "max_k": 100.0, "provisional_k": 20.0},
            "bayes": {"anchor_sd": 90.0},
            "gor": {"eps": 0.016},
        },
        initial=1000.0,
        ready_limit=5_000_000,
        return_grace=0,
        void_after=60_000_000,
    )


@pytest.mark.parametrize(
    ("time", "limit"),
    [
        ('{ system = "fixed", period = "10s" }', 10_000_000),
        ('{ system = "byoyomi", period = "20s", periods = 2 }', 40_000_000),
        ('{ system = "canadian", period = "50s", stones = 5 }', 50_000_000),
        ('{ system = "fischer", main = "1m", increment = "2s" }', 60_000_000),
    ],
)
def test_without_main_time_the_first_move_may_take_what_the_clock_holds(write: Any, time: str, limit: int) -> None:
    path = write(VENUE.replace('{ main = "1m" }', time))
    assert venue_value(load(path).venue[0], 1).first_move_limit == limit


def test_the_defaults_of_options_are_those_of_the_methods() -> None:
    pairing, rating = load().venue[0].pairing, RatingConfig()
    for name in METHODS:
        for key, default in matchmaker(name, {}).options.items():
            configured = getattr(pairing, key)
            assert configured == default or (key == "max_expected" and configured is None), (name, key)
    for name in SYSTEMS:
        for key, option in rating_options(name).items():
            assert getattr(rating, key) == systems().find(name).options[option].default, (name, option)


def test_a_key_means_one_thing() -> None:
    """A key of several rating systems is the same option of all; no matchmaker's option hides another key."""
    options: dict[str, Option] = {}
    for name in SYSTEMS:
        for key, word in rating_options(name).items():
            option = systems().find(name).options[word]
            assert options.setdefault(key, option) == option, (name, key)
    own = [word for method in METHODS for word in matchmakers().find(method).options]
    keys = [key.name for key in explain() if key.table == "venue.pairing"]
    assert len(keys) == len(set(keys)) == len(PairingConfig.__base__.__struct_fields__) + len(SHARED) + len(own)


# -- lengths of time


@pytest.mark.parametrize(
    ("text", "us", "shown"),
    [
        ("5m", 300_000_000, "5m"),
        ("1h30m", 5_400_000_000, "1h30m"),
        ("90s", 90_000_000, "1m30s"),
        ("0.5s", 500_000, "500ms"),
        ("250ms", 250_000, "250ms"),
        ("1m250ms", 60_250_000, "1m250ms"),
        (45, 45_000_000, "45s"),
        (0.25, 250_000, "250ms"),
        ("45", 45_000_000, "45s"),
        (0, 0, "0s"),
    ],
)
def test_lengths_of_time(text: object, us: int, shown: str) -> None:
    assert Span.parse(text) == Span(us)
    assert str(Span(us)) == shown
    assert Span.parse(shown) == Span(us)


@pytest.mark.parametrize("bad", ["", "5x", "m", "-5", -1, "5m3h", True, [], "nan", float("inf"), 1e12])
def test_what_is_no_length_of_time(bad: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        Span.parse(bad)


# -- sources


def test_command_line_before_environment_before_file_before_default(write: Any) -> None:
    path = write("[web]\nport = 1001\nhost = '127.0.0.2'\nmode = 'off'\n")
    env = {"CGOS_WEB__PORT": "1002", "CGOS_WEB__HOST": "127.0.0.3", "HOME": "/x"}
    config = load(path, env, {"web.port": 1003, "web.host": None})
    assert (config.web.port, config.web.host, config.web.mode) == (1003, "127.0.0.3", "off")
    assert config.health == Config().health


def test_the_environment_speaks_in_text() -> None:
    env = {
        "CGOS_SERVER__COMMIT_TIMEOUT_S": "2.5",
        "CGOS_SERVER__REGISTRATION": "closed",
        "CGOS_LISTEN__BACKLOG": "7",
        "CGOS_SERVER__NAME": "7",
        "CGOS_VENUE__9X9__SUICIDE": "true",
        "CGOS_VENUE__9X9__TIME__MAIN": "2m",
        "CGOS_VENUE__13X13__PAIRING__METHOD": "birk",
        "CGOS_VENUE__13X13__PAIRING__FORMULA": "one",
    }
    config = load(None, env)
    assert (config.server.commit_timeout_s, config.server.registration, config.listen.backlog) == (2.5, "closed", 7)
    assert config.server.name == "7"
    assert config.venue[0].suicide is True
    assert config.venue[0].time.main == Span(120_000_000)
    assert config.venue[1].pairing.formula == "one"
    assert config.venue[2] == Config().venue[2]


def test_what_comes_from_the_environment_can_be_told_to_the_pages() -> None:
    env = {"CGOS_VENUE__9X9__RATING__SYSTEM": "gor", "CGOS_VENUE__9X9__RATING__GOR_VARIANT": "egf"}
    venue = venue_value(load(None, env).venue[0], 1)
    settings = WebSettings(venues={"9x9": VenueSettings.of(venue, 6809)})
    line = command(Path("data"), settings, log_format="json", log_level="info")
    (argument,) = [word for word in line if word.startswith("--settings=")]
    assert '"gor"' in argument
    assert '"egf"' in argument


def test_venues_with_odd_names_can_be_named_in_the_environment(write: Any) -> None:
    path = write(VENUE.replace('"small"', '"My-9.x"'))
    assert load(path, {"CGOS_VENUE__MY_9_X__PORT": "7001"}).venue[0].port == 7001


def test_variables_of_others_are_not_read() -> None:
    assert load(None, {"CGOS_PORT": "tcp://10.0.0.1:6809", "CGOS_PORT_6809_TCP_PORT": "6809", "CGOS": "x"}) == load()


def test_a_relative_data_directory_counts_from_its_file_else_from_the_working_directory(
    write: Any, tmp_path: Path
) -> None:
    assert load(write("[server]\ndata = 'd'\n")).server.data == tmp_path / "d"
    assert load(write("")).server.data == tmp_path / "cgos-data"
    assert load(write("[server]\ndata = '/abs/d'\n")).server.data == Path("/abs/d")
    assert load(write(""), {"CGOS_SERVER__DATA": "d"}).server.data == Path.cwd() / "d"
    assert load(write(""), {}, {"server.data": Path("d")}).server.data == Path.cwd() / "d"
    assert load(write("")).server.location == tmp_path / "cgos-data" / "cgos.sqlite"


# -- what the first start fixes


def small(**changes: Any) -> VenueConfig:
    venue = load().venue[0]
    time = changes.pop("time", {})
    return msgspec.structs.replace(venue, time=msgspec.structs.replace(venue.time, **time), **changes)


def test_what_is_fixed_is_canonical() -> None:
    assert fixed(small()) == (
        '{"game":"go","ko":"positional","komi2":14,"size":9,"suicide":false,"time":{"increment":0,"lag":250000,'
        '"lag_bank":null,"main":300000000,"period":0,"periods":0,"stones":0,"system":"absolute"}}'
    )


def test_pairing_limits_and_display_may_change() -> None:
    other = small(port=1, move_limit=9, initial=5.0, return_grace_s=1.0)
    check_fixed(other, msgspec.json.decode(fixed(small())), "here")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"size": 13}, "size was 9 and is 13"),
        ({"komi": 7.5}, "komi was 7.0 and is 7.5"),
        ({"ko": Ko.SIMPLE}, "ko was positional and is simple"),
        ({"suicide": True}, "suicide was false and is true"),
        ({"time": {"main": Span(600_000_000)}}, "time.main was 5m and is 10m"),
        ({"time": {"lag_s": 1.0}}, "time.lag_s was 0.25 and is 1.0"),
        ({"time": {"lag_bank_s": 1.0}}, "time.lag_bank_s was not set and is 1.0"),
        (
            {"time": {"system": TimeSystem.FISCHER, "increment": Span(1_000_000)}, "komi": 0.5},
            "komi was 7.0 and is 0.5, time.increment was 0s and is 1s, time.system was absolute and is fischer",
        ),
    ],
)
def test_changed_terms_are_refused_with_old_and_new_value(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        check_fixed(small(**changes), msgspec.json.decode(fixed(small())), "cgos.toml")
    assert str(raised.value) == (
        f"cgos.toml: venue 9x9: what its first start fixed has changed: {words}. Put the old values back, or give the "
        "venue a new name: ratings under other terms are not comparable."
    )


class Venues:
    """As much of a store as venues need."""

    def __init__(self) -> None:
        self.history: Any = Subjects(self)
        self.sharing = Alone()
        self.rows: list[VenueRow] = []

    async def server_venues(self) -> list[VenueRow]:
        return self.rows

    async def commit(self, records: list[Record]) -> None:
        for record in records:
            assert isinstance(record, VenueAdded)
            self.rows.append(
                VenueRow(id=record.id, name=record.name, fixed=msgspec.json.decode(record.fixed), created_at=0)
            )


async def test_venues_keep_their_numbers_and_new_ones_get_new() -> None:
    store: Any = Venues()
    config = load()
    assert [v.id for v in await enroll_venues(config, store, 0, "x")] == [1, 2, 3]
    more = small(name="blitz")
    changed = msgspec.structs.replace(config, venue=(more, config.venue[2]))
    assert [(v.id, v.name) for v in await enroll_venues(changed, store, 0, "x")] == [(4, "blitz"), (3, "19x19")]
    assert [v.id for v in await enroll_venues(config, store, 0, "x")] == [1, 2, 3]


async def test_all_changed_venues_are_told_at_once_and_nothing_is_stored() -> None:
    store: Any = Venues()
    await enroll_venues(load(), store, 0, "x")
    env = {"CGOS_VENUE__9X9__KOMI": "5", "CGOS_VENUE__13X13__SIZE": "12"}
    with pytest.raises(ConfigErrors) as raised:
        await enroll_venues(load(None, env), store, 0, "x")
    assert [problem.place for problem in raised.value.problems] == ["x: venue 9x9", "x: venue 13x13"]
    assert len(store.rows) == 3


# -- words about keys


def test_the_template_loads_to_the_defaults(write: Any) -> None:
    text = template()
    path = write(text)
    assert load(path, {}, {"server.data": Path("cgos-data")}) == load()
    uncommented = re.sub(r"(?m)^#(?=\S)", "", text)
    assert uncommented.count("\n#") < text.count("\n#") - 30
    assert load(write(uncommented), {}, {"server.data": Path("cgos-data")}) == load()


def test_the_template_names_every_key() -> None:
    text = template()
    for key in explain():
        assert re.search(rf"\b{key.name}\b", text), key


def test_every_key_says_what_it_means() -> None:
    keys = explain()
    assert len(keys) > 45
    assert len({(key.table, key.name) for key in keys}) == len(keys)
    for key in keys:
        assert key.sentence.endswith("."), key
        assert key.values, key
        if key.default not in ("required", "not set"):
            tomllib.loads(f"key = {key.default}")


def test_units_are_in_the_names_of_keys() -> None:
    for key in explain():
        if re.search(r"(?i)seconds|how long", key.sentence) and key.values.startswith("a number"):
            assert key.name.endswith("_s"), key


def test_choices_that_registries_offer_are_in_the_sentences() -> None:
    sentences = {(key.table, key.name): key.sentence for key in explain()}
    for place, choices in {
        ("venue", "game"): games.names(),
        ("venue.pairing", "method"): METHODS,
        ("venue.pairing", "formula"): tuple(FORMULAS),
        ("venue.pairing", "bye"): BYES,
        ("venue.rating", "system"): SYSTEMS,
    }.items():
        for choice in choices:
            assert f"`{choice}`" in sentences[place]


def test_the_documentation_has_every_key_with_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
    assert keys_markdown().strip() in page


def test_examples_in_the_documentation_load(write: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        load(write(block))


@pytest.mark.parametrize("text", ["", "cgos.example.org:6809", "[2001:db8::1]:6809", "192.0.2.1:1"])
def test_public_addresses(text: str) -> None:
    address = PublicAddress.parse(text)
    assert str(address) == text
    assert address.port == (int(text.rpartition(":")[2]) if text else None)


@pytest.mark.parametrize(
    "value", ["cgos.example.org", ":6809", "a b:1", "a:0", "a:70000", "a:1/x", "me@a:1", "ws://a:1", 6809]
)
def test_public_addresses_that_are_none(value: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        PublicAddress.parse(value)


@pytest.mark.parametrize("text", ["", "wss://bots.example.org", "ws://127.0.0.1:6868", "wss://[2001:db8::1]:1"])
def test_websocket_urls(text: str) -> None:
    assert str(WebSocketUrl.parse(text)) == text
    assert str(WebSocketUrl.parse(f"{text}/" if text else text)) == text


@pytest.mark.parametrize(
    "value", ["bots.example.org", "https://a", "wss://", "wss://a/9x9", "wss://me@a", "wss://a?x=1", "wss://a:0", 1]
)
def test_websocket_urls_that_are_none(value: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        WebSocketUrl.parse(value)


def test_optional_types_are_seen_through() -> None:
    assert plain_type(Annotated[int | None, "x"]) is int


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("127.0.0.1", "127.0.0.1/32"),
        ("10.1.2.3/8, ::1", "10.0.0.0/8, ::1/128"),
        (["192.0.2.0/24"], "192.0.2.0/24"),
        ("", ""),
        ([], ""),
    ],
)
def test_networks(text: object, shown: str) -> None:
    assert str(Networks.parse(text)) == shown
    assert Networks.parse(shown) == Networks.parse(text)


@pytest.mark.parametrize("bad", ["here", "10.0.0.0/33", "127.0.0.1 10.0.0.1", 5, None, [5], True])
def test_what_are_no_networks(bad: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the loader says the sentence
        Networks.parse(bad)


# -- options of plug-ins


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("", ""),
        ("reach=3, model = gor,wide=true", "reach=3, model=gor, wide=true"),
        ({"reach": 3.5, "steady-elo": {"k": 24}}, "reach=3.5, steady-elo.k=24"),
    ],
)
def test_options_of_plug_ins(written: Any, text: str) -> None:
    options = Options.parse(written)
    assert str(options) == text
    assert Options.parse(text) == options


@pytest.mark.parametrize("written", ["reach", "=3", 3, {"reach": [3]}, {"reach": None}])
def test_what_are_no_options_of_plug_ins(written: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whoever reads it says what is wanted
        Options.parse(written)


def test_options_for_a_system_that_is_not_used_are_refused(write: Any) -> None:
    path = write(VENUE + "rating = { options = { other-elo = { k = 24 } } }\n")
    with pytest.raises(
        ConfigErrors, match=r"other-elo\.k is no option of a rating system of a plug-in that this venue"
    ):
        load(path)
