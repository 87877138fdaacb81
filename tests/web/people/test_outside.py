"""Messages to addresses that strangers chose: where they go, and where they never do."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.web.names import literals

from cgos_protocol.errors import Refused
from cgos_server.presentation.settings import networks
from cgos_server.service.people.webhook_urls import target
from cgos_server.web.people.outside import ANSWER_MAX, Outside, forbidden

LOOPBACK = networks(["127.0.0.0/8"])

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(serve: Serve) -> AsyncIterator[int]:
    """A server on loopback; its port."""

    async def serving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serving, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def answering(answer: bytes, heard: list[bytes]) -> Serve:
    """Takes one request with its body, and answers it."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        heard.append(head + await reader.readexactly(length))
        writer.write(answer)
        await writer.drain()

    return serve


async def refusal(work: Awaitable[Any]) -> str:
    with pytest.raises(Refused) as raised:
        await work
    return raised.value.code


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
     "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "192.0.0.8",
     "::", "::1", "fe80::1", "fc00::1", "fd00::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8",
     "::127.0.0.1", "2001:db8::1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2001:0:1::1",
     "fe80::1%eth0"],
)  # fmt: skip
def test_what_is_not_of_the_open_internet_is_forbidden(address: str) -> None:
    assert forbidden(ipaddress.ip_address(address), ())


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450::1"])
def test_the_open_internet_is_allowed(address: str) -> None:
    assert not forbidden(ipaddress.ip_address(address), ())


def test_what_the_configuration_permits_is_allowed() -> None:
    permitted = networks(["10.0.0.0/8", "fd00::/8"])
    assert not forbidden(ipaddress.ip_address("10.1.2.3"), permitted)
    assert not forbidden(ipaddress.ip_address("fd00::1"), permitted)
    assert forbidden(ipaddress.ip_address("192.168.1.1"), permitted)


@given(st.ip_addresses(v=4))
def test_no_private_address_passes(address: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    assert forbidden(address, ()) or (address.is_global and not address.is_multicast)
    assert forbidden(mapped, ())


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "example.org", "http://", "http:///x",
     "http://user@example.org/", "http://a:b@example.org/", "http://example.org:22/", "http://example.org:25/",
     "http://example.org:99999/", "http://example.org:x/", "http://exa mple.org/", "http://example.org/\r\nX: y",
     "http://[::1", "https://example.org/" + "a" * 2000, "http://exämple.org/"],
)  # fmt: skip
def test_addresses_to_which_nothing_is_sent(url: str) -> None:
    with pytest.raises(Refused) as raised:
        target(url)
    assert raised.value.code == "url"


def test_how_an_address_is_read() -> None:
    assert target("https://Example.org/a?b=c") == (True, "example.org", 443, "/a?b=c")
    assert target("http://[2606:4700::1]:8080").authority == "[2606:4700::1]:8080"
    assert target("http://example.org:80/x").authority == "example.org"


async def test_a_message_arrives_where_the_network_is_permitted() -> None:
    heard: list[bytes] = []
    async with listening(answering(b"HTTP/1.1 204 No Content\r\n\r\n", heard)) as port:
        answer = await Outside(LOOPBACK).post(f"http://127.0.0.1:{port}/hook?x=1", {"Cgos-Event": "test"}, b"{}")
    assert answer == (204, b"")
    head, body = heard[0].split(b"\r\n\r\n")
    assert head.startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{port}".lower().encode() in head.lower()
    assert body == b"{}"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"]
)
async def test_nothing_reaches_loopback_where_it_is_not_permitted(host: str) -> None:
    heard: list[bytes] = []
    async with listening(answering(b"HTTP/1.1 204 No Content\r\n\r\n", heard)) as port:
        assert await refusal(Outside().post(f"http://{host}:{port}/", {}, b"")) in ("forbidden-address", "unknown-host")
    assert heard == []


async def test_a_name_that_changes_its_address_is_resolved_once() -> None:
    """DNS rebinding: the second answer would be a private address, but nobody asks for it."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    hosts: list[str] = []
    reached: list[tuple[str, int]] = []

    async def resolver(host: str, port: int) -> list[str]:
        hosts.append(host)
        return next(answers)

    async def connect(host: str, port: int, **more: Any) -> Any:
        reached.append((host, port))
        assert more.get("server_hostname") == "rebinding.example"
        raise ConnectionRefusedError

    outside = Outside((), resolver, connect)
    assert await refusal(outside.post("https://rebinding.example/", {}, b"")) == "not-reached"
    assert hosts == ["rebinding.example"]
    assert reached == [("93.184.216.34", 443)], "the address that was judged, not the name"
    assert await refusal(outside.post("https://rebinding.example/", {}, b"")) == "forbidden-address"
    assert len(reached) == 1


async def test_what_will_not_be_sent_to_is_told_at_once() -> None:
    """By the rule that holds at every message; a name may lead elsewhere by then, or nowhere just now."""

    async def resolver(host: str, port: int) -> list[str]:
        return {"two.example": ["93.184.216.34", "10.0.0.1"], "one.example": ["93.184.216.34"]}[host]

    for url in ("https://127.0.0.1:9999/", "http://127.1/", "http://localhost/", "http://[::1]/", "http://10.1.2.3/"):
        assert await refusal(Outside().permit(url)) == "forbidden-address", url
    assert await refusal(Outside((), resolver).permit("https://two.example/")) == "forbidden-address"
    assert await refusal(Outside((), resolver).permit("http://one.example:25/")) == "url"
    await Outside((), resolver).permit("https://one.example/")
    await Outside((), literals).permit("https://nobody.example/")
    await Outside(LOOPBACK).permit("http://127.0.0.1:9999/")

    async def never(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    await Outside((), never, limit_s=0.01).permit("https://slow.example/")


async def test_one_private_address_among_several_is_enough() -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "10.0.0.1"]

    assert await refusal(Outside((), resolver).post("http://two.example/", {}, b"")) == "forbidden-address"


async def test_redirects_are_not_followed() -> None:
    heard: list[bytes] = []
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n"
    async with listening(answering(answer, heard)) as port:
        assert (await Outside(LOOPBACK).post(f"http://127.0.0.1:{port}/", {}, b"")).status == 302
    assert len(heard) == 1


async def test_little_of_a_long_answer_is_read() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + b"x" * 100_000)
        await writer.drain()
        await reader.read()

    async with listening(serve) as port:
        answer = await Outside(LOOPBACK).post(f"http://127.0.0.1:{port}/", {}, b"")
    assert answer.status == 200
    assert len(answer.body) == ANSWER_MAX


@pytest.mark.parametrize(
    ("reply", "code"),
    [(b"SSH-2.0-x\r\n", "no-http"), (b"", "no-http"), (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 10_000, "no-http")],
)
async def test_what_is_no_http_is_told(reply: bytes, code: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()

    async with listening(serve) as port:
        assert await refusal(Outside(LOOPBACK).post(f"http://127.0.0.1:{port}/", {}, b"")) in (code, "not-reached")


async def test_whoever_is_slow_is_left() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(serve) as port:
        assert await refusal(Outside(LOOPBACK, limit_s=0.05).post(f"http://127.0.0.1:{port}/", {}, b"")) == "too-slow"


async def test_a_certificate_that_nobody_vouches_for_is_told() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"no TLS at all")
        await writer.drain()

    async with listening(serve) as port:
        assert await refusal(Outside(LOOPBACK).post(f"https://127.0.0.1:{port}/", {}, b"")) in (
            "no-trust",
            "not-reached",
        )


async def test_names_that_never_resolve_keep_no_thread_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: stuck.wait() and [])
    outside = Outside(limit_s=0.05)
    try:
        refusals = [refusal(outside.post(f"https://name{number}.example/", {}, b"")) for number in range(20)]
        assert set(await asyncio.gather(*refusals)) == {"too-slow"}
        async with asyncio.timeout(10):
            assert await asyncio.to_thread(lambda: "free") == "free"
    finally:
        stuck.set()
