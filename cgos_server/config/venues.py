"""From a configured venue to the core's value, what its first start fixes for ever, and which venues contradict.

Games, matchmakers and rating systems are asked through their registries. Must not know: files, the environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import msgspec

from cgos_protocol import clock
from cgos_protocol.clock import TimeControl
from cgos_protocol.errors import ConfigError, Refused
from cgos_protocol.games.base import Ruleset
from cgos_protocol.games.registry import game_kind
from cgos_protocol.ids import VenueId
from cgos_protocol.openings import OpeningSet
from cgos_server.config import openings
from cgos_server.config.cluster import ClusterConfig
from cgos_server.config.pairing import options
from cgos_server.config.problems import ConfigErrors, Key, Place, objected
from cgos_server.config.schema import Config, RatingConfig, VenueConfig
from cgos_server.config.system_keys import changed, rating_keys, rating_options
from cgos_server.config.values import Span, us
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.rating.registry import SYSTEMS, rating_system
from cgos_server.core.venue import PairingSettings, Venue
from cgos_server.storage.node import MAIN
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import Record, VenueAdded

_NODE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""A name that may be part of a file's name, of a header, and of what a session of PostgreSQL is called."""


def venue_value(venue: VenueConfig, venue_id: VenueId) -> Venue:
    """The venue as the live server wants it, under the store's number `venue_id`.

    :raises ConfigError: where game, time control, matchmaker or rating system object
    """
    problem = next(_venue_faults(venue, lambda key: ".".join((venue.name, *map(str, key)))), None)
    if problem is not None:
        raise problem
    rules, control = _rules(venue), _time(venue)
    first_move = venue.first_move_limit_s
    pairing = venue.pairing
    return Venue(
        id=venue_id,
        name=venue.name,
        rules=rules,
        time=control,
        move_limit=_move_limit(venue),
        first_move_limit=(
            us(first_move) if first_move is not None else control.main or clock.allowance(control, clock.start(control))
        ),
        pairing=PairingSettings(
            policy=pairing.policy,
            method=pairing.method,
            options=options(pairing),
            interval=us(pairing.interval_s),
            settle=us(pairing.settle_s),
            openings=_openings(venue, f"{venue.name}.pairing.openings"),
            openings_share=pairing.openings_share,
            suspend_after=pairing.suspend_after,
        ),
        rating=venue.rating.system,
        views=venue.rating.views.parts,
        rating_options={name: _rating_options(venue.rating, name) for name in _rating_systems(venue.rating)},
        initial=venue.initial,
        ready_limit=us(venue.ready_limit_s),
        return_grace=us(venue.return_grace_s),
        void_after=us(venue.void_after_s),
        rated=venue.rated,
        delay=us(venue.delay_s),
    )


def faults(config: Config, place: Place) -> Iterator[ConfigError]:
    """Everything that is wrong with a configuration whose every value is possible by itself."""
    yield from _families_faults(config, place)
    names: set[str] = set()
    listeners: list[_Listener] = []
    for index, venue in enumerate(config.venue):
        here = ("venue", index)
        if venue.name.lower() in names:
            problem = "the name is taken by another venue (capitals do not count)"
            yield ConfigError(place((*here, "name")), problem, "Give each venue its own name.")
        names.add(venue.name.lower())
        port = place((*here, "port"))
        listeners.append(_Listener(config.listen.bots_host, venue.port, f"venue {venue.name}", port))
        if venue.tls_port is not None:
            port = place((*here, "tls_port"))
            listeners.append(_Listener(config.listen.bots_host, venue.tls_port, f"TLS of venue {venue.name}", port))
        yield from _venue_faults(venue, lambda key, here=here: place((*here, *key)))  # type: ignore[misc]
    if config.websocket.enabled:
        listeners.append(
            _Listener(config.websocket.host, config.websocket.port, "WebSocket", place(("websocket", "port")))
        )
    if config.web.enabled:
        listeners.append(_Listener(config.web.host, config.web.port, "the pages", place(("web", "port"))))
        if config.web.redirect_port is not None:
            port = place(("web", "redirect_port"))
            listeners.append(_Listener(config.web.host, config.web.redirect_port, "the redirection to https", port))
    listeners.append(_Listener(config.health.host, config.health.port, "health", place(("health", "port"))))
    yield from _port_faults(listeners)
    yield from _tls_faults(config, place)
    yield from _proxies_faults(config, place)
    yield from _cluster_faults(config, place)
    if config.limits.connections_per_address > config.limits.connections:
        yield ConfigError(
            place(("limits", "connections_per_address")),
            f"{config.limits.connections_per_address} is more than all connections ({config.limits.connections})",
            "Lower it, or raise limits.connections.",
        )


def _families_faults(config: Config, place: Place) -> Iterator[ConfigError]:
    text = config.server.families
    if not text:
        return
    here, remedy = place(("server", "families")), "Give one such as (?P<family>.+)-[0-9.]+"
    try:
        pattern = re.compile(text)
    except re.error as error:
        yield ConfigError(here, f"{text!r} is no regular expression ({error})", remedy)
        return
    if "family" not in pattern.groupindex:
        yield ConfigError(here, f"{text!r} has no group named family", remedy)


def _proxies_faults(config: Config, place: Place) -> Iterator[ConfigError]:
    if config.listen.proxy_protocol and not config.listen.proxies.parts:
        yield ConfigError(
            place(("listen", "proxy_protocol")),
            "no proxy is named in listen.proxies, and only there a header is believed",
            "Name the addresses of the proxies in listen.proxies.",
        )


def _tls_faults(config: Config, place: Place) -> Iterator[ConfigError]:
    tls, web = config.tls, config.web
    if (tls.certificate is None) != (tls.key is None):
        there, missing = ("key", "certificate") if tls.certificate is None else ("certificate", "key")
        yield ConfigError(place(("tls", there)), f"tls.{missing} is missing", f"Give tls.{missing} as well.")
    keys: list[Key] = [
        *(("venue", index, "tls_port") for index, venue in enumerate(config.venue) if venue.tls_port is not None),
        *((table, "tls") for table in ("websocket", "web", "health") if getattr(config, table).tls),
    ]
    if tls.certificate is None and tls.key is None:
        for key in keys:
            remedy = "Give tls.certificate and tls.key, or leave TLS to a proxy."
            yield ConfigError(place(key), "there is no certificate for TLS", remedy)
    for name, wanted in (("redirect_port", web.redirect_port is not None), ("hsts_days", web.hsts_days > 0)):
        if wanted and not web.tls:
            problem = "the pages are not encrypted by this server"
            yield ConfigError(place(("web", name)), problem, "Say web.tls = true, or leave this to the proxy.")
    for table, url, encrypted, schemes in (
        ("websocket", config.websocket.public_url.text, config.websocket.tls, ("ws:", "wss://")),
        ("web", web.public_url, web.tls, ("http:", "https://")),
    ):
        if encrypted and url.startswith(schemes[0]):
            problem = f"{url} is not encrypted, and {table}.tls is true"
            yield ConfigError(place((table, "public_url")), problem, f"Begin it with {schemes[1]}")


def _cluster_faults(config: Config, place: Place) -> Iterator[ConfigError]:
    """What else must be said where any key of `[cluster]` is given, or venues are put into groups."""
    cluster, server = config.cluster, config.server
    for word in cluster.groups.parts:
        if word not in config.groups:
            there = ", ".join(config.groups)
            yield ConfigError(place(("cluster", "groups")), f"no venue is in a group {word}", f"There are: {there}.")
    if cluster.node and not _NODE.fullmatch(cluster.node):
        problem = f"{cluster.node!r} is no name of a node"
        yield ConfigError(place(("cluster", "node")), problem, "Use letters, digits, '_', '.' and '-'.")
    if cluster.node and config.web.mode == "inline":
        problem = "the pages of a cluster need a process of their own"
        yield ConfigError(place(("web", "mode")), problem, 'Set it to "process", or to "off".')
    if (cluster.control_port is None) != (cluster.key is None):
        there, missing = ("key", "control_port") if cluster.control_port is None else ("control_port", "key")
        yield ConfigError(
            place(("cluster", there)), f"cluster.{missing} is missing", f"Give cluster.{missing} as well."
        )
    if not cluster.node:
        for index, venue in enumerate(config.venue):
            if venue.group != MAIN:
                problem = "only the nodes of a cluster have groups of venues"
                yield ConfigError(place(("venue", index, "group")), problem, "Set cluster.node, or leave the key out.")
    given = [key for key in cluster.__struct_fields__ if getattr(cluster, key) != getattr(ClusterConfig(), key)]
    if not given:
        return
    here = place(("cluster", given[0]))
    if server.database is None:
        yield ConfigError(
            here,
            "a cluster keeps its database in PostgreSQL",
            "Set server.database, or leave the keys of [cluster] out.",
        )
    if server.durability != "power":
        yield ConfigError(
            here,
            "a cluster's commits wait for PostgreSQL's disk",
            'Set server.durability = "power", or leave the keys of [cluster] out.',
        )


class _Listener(NamedTuple):
    """A port that is to be listened on."""

    host: str
    port: int
    whose: str
    place: str


_EVERYWHERE = ("", "0.0.0.0", "::")


def _port_faults(listeners: list[_Listener]) -> Iterator[ConfigError]:
    for index, listener in enumerate(listeners):
        for other in listeners[:index]:
            meet = listener.host == other.host or listener.host in _EVERYWHERE or other.host in _EVERYWHERE
            if listener.port == other.port != 0 and meet:
                problem = f"port {listener.port} belongs to {other.whose} already"
                yield ConfigError(listener.place, problem, "Give each listener its own port.")


def _venue_faults(venue: VenueConfig, place: Place) -> Iterator[ConfigError]:
    if (venue.komi * 2) % 1:
        yield ConfigError(place(("komi",)), f"{venue.komi} is no multiple of 0.5", "Give a komi such as 7 or 7.5.")
    try:
        objection = game_kind(venue.game).check(_rules(venue))
    except Refused as refusal:
        yield objected(place(("game",)), refusal.sentence)
    else:
        if objection is not None:
            yield objected(place(("size",)), objection)
        else:
            try:
                _openings(venue, place(("pairing", "openings")))
            except ConfigErrors as errors:
                yield from errors.problems
    objection = clock.check(_time(venue))
    if objection is not None:
        yield objected(place(("time",)), objection)
    try:
        matchmaker(venue.pairing.method, options(venue.pairing))
    except Refused as refusal:
        yield objected(place(("pairing",)), refusal.sentence)
    used = _rating_systems(venue.rating)
    for name in used:
        try:
            rating_system(name, venue.initial, _rating_options(venue.rating, name))
        except Refused as refusal:
            yield objected(place(("rating",)), refusal.sentence)
    keys = {name: rating_options(name) for name in SYSTEMS}
    for key in sorted(changed(venue.rating, rating_keys())):
        owners = [name for name in SYSTEMS if key in keys[name]]
        if not set(owners).isdisjoint(used):
            continue
        problem = f"{key} is an option of {' and '.join(owners)}, which this venue does not use"
        yield ConfigError(place(("rating", key)), problem, f'Leave it out, or say system = "{owners[0]}".')
    for key, _ in venue.rating.options.parts:
        if not any(key.startswith(f"{name}.") for name in used if name not in SYSTEMS):
            problem = f"{key} is no option of a rating system of a plug-in that this venue uses"
            yield ConfigError(place(("rating", "options")), problem, "Leave it out, or name that system.")
    if len(set(used)) < len(used):
        problem = "a rating system is named twice"
        yield ConfigError(place(("rating", "views")), problem, "Leave out of the views what is there already.")


def _rating_systems(rating: RatingConfig) -> tuple[str, ...]:
    """The headline first."""
    return (rating.system, *rating.views.parts)


def _rating_options(rating: RatingConfig, system: str) -> dict[str, Any]:
    """What the configuration says otherwise than the system's defaults."""
    if system not in SYSTEMS:  # a plug-in's have a table of their own
        return rating.options.of(system)
    keys = rating_options(system)
    return {keys[key]: value for key, value in changed(rating, keys).items()}


def _openings(venue: VenueConfig, place: str) -> OpeningSet:
    return openings.read(venue.pairing.openings, _rules(venue), _move_limit(venue), place)


def _move_limit(venue: VenueConfig) -> int:
    return venue.move_limit or 3 * game_kind(venue.game).points(_rules(venue))


def _rules(venue: VenueConfig) -> Ruleset:
    return Ruleset(game=venue.game, size=venue.size, komi2=round(venue.komi * 2), ko=venue.ko, suicide=venue.suicide)


def _time(venue: VenueConfig) -> TimeControl:
    time = venue.time
    return TimeControl(
        system=time.system,
        main=time.main.us,
        increment=time.increment.us,
        period=time.period.us,
        periods=time.periods,
        stones=time.stones,
        lag=us(time.lag_s),
        lag_bank=None if time.lag_bank_s is None else us(time.lag_bank_s),
    )


# -- what the first start fixes


def fixed(venue: VenueConfig) -> str:
    """What may never change in a venue, as canonical JSON: game, size, komi in half points, ko, suicide and time
    control in microseconds."""
    terms = asdict(_rules(venue)) | {"time": asdict(_time(venue))}
    return msgspec.json.encode(terms, order="deterministic").decode()


def check_fixed(venue: VenueConfig, stored: dict[str, Any], place: str) -> None:
    """Compare a venue with what the database holds of it.

    :param stored: what :func:`fixed` gave at its first start, decoded
    :raises ConfigError: naming each changed key with its old and its new value
    """
    old, new = _flat(stored), _flat(msgspec.json.decode(fixed(venue)))
    changed = [
        f"{_word(key)} was {_figure(key, old.get(key))} and is {_figure(key, new.get(key))}"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]
    if changed:
        raise ConfigError(
            f"{place}: venue {venue.name}",
            f"what its first start fixed has changed: {', '.join(changed)}",
            "Put the old values back, or give the venue a new name: ratings under other terms are not comparable.",
        )


def _flat(terms: dict[str, Any]) -> dict[str, Any]:
    time = terms.get("time", {})
    return {key: value for key, value in terms.items() if key != "time"} | {
        f"time.{key}": value for key, value in time.items()
    }


def _word(key: str) -> str:
    """The configuration's word for a stored key."""
    return {"komi2": "komi", "time.lag": "time.lag_s", "time.lag_bank": "time.lag_bank_s"}.get(key, key)


def _figure(key: str, value: Any) -> str:
    """A stored value as the configuration writes it."""
    if value is None:
        return "not set"
    if key == "komi2":
        return str(value / 2)
    if key in ("time.lag", "time.lag_bank"):
        return str(value / 1_000_000)
    if key in ("time.main", "time.increment", "time.period"):
        return str(Span(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


async def enroll_venues(config: Config, store: Store, at: int, place: str) -> list[Venue]:
    """Every configured venue with its number in the store; those that the store does not know are added.

    :param at: Unix milliseconds
    :param place: where the configuration comes from, for the message
    :raises ConfigErrors: where fixed terms of known venues have changed
    :raises Conflict: where another node of a cluster plays one of them
    """
    async with store.sharing.hold("venues"):
        known = {venue.name: venue for venue in await store.history.server.venues()}
        free = VenueId(max((venue.id for venue in known.values()), default=0) + 1)
        problems: list[ConfigError] = []
        venues: list[Venue] = []
        added: list[Record] = []
        for venue in config.venue:
            stored = known.get(venue.name)
            if stored is None:
                added.append(VenueAdded(free, venue.name, fixed(venue), at))
                venues.append(venue_value(venue, free))
                free = VenueId(free + 1)
                continue
            try:
                check_fixed(venue, stored.fixed, place)
            except ConfigError as problem:
                problems.append(problem)
            venues.append(venue_value(venue, stored.id))
        if problems:
            raise ConfigErrors(problems)
        if added:
            await store.commit(added)
        await store.sharing.take_venues([venue.id for venue in venues])
    return venues
