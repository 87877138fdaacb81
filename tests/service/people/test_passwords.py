"""Passwords are checked at their price, in turn, and never more at once than there is room for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import HashingError

from cgos_protocol.errors import Refused
from cgos_server.service.people.passwords import (
    TOKEN_PREFIX,
    Passwords,
    digest,
    looks_like_token,
    new_token,
    standard_hasher,
)

HERE = "192.0.2.1"


async def test_only_the_right_password_is_right(passwords: Passwords) -> None:
    stored = await passwords.hash("secret", HERE)
    assert stored.startswith("$argon2id$")
    assert "secret" not in stored
    assert await passwords.verify(stored, "secret", HERE)
    assert not await passwords.verify(stored, "Secret", HERE)
    assert not await passwords.verify("", "secret", HERE)
    assert stored != await passwords.hash("secret", HERE)


def test_the_cost_is_what_is_promised() -> None:
    hasher = standard_hasher()
    assert (hasher.memory_cost, hasher.time_cost, hasher.parallelism) == (19456, 2, 1)
    assert standard_hasher().hash("x").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


class Gate(PasswordHasher):
    """Hashes while the test holds it open.

    :ivar begun: the passwords in the order in which their hashes began
    """

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.open = threading.Event()
        self.begun: list[Any] = []
        self.threads: set[str] = set()

    def hash(self, password: Any, *, salt: bytes | None = None) -> str:
        self.begun.append(password)
        assert self.open.wait(10)
        self.threads.add(threading.current_thread().name)
        return super().hash(password, salt=salt)


async def begin(passwords: Passwords, *checks: tuple[str, str]) -> list[asyncio.Task[str]]:
    """Hashes of (password, address) that come in this order; the first one runs where none did."""
    futures = [asyncio.create_task(passwords.hash(password, whose)) for password, whose in checks]
    for _ in range(3):
        await asyncio.sleep(0)
    return futures


async def test_a_full_queue_refuses_and_the_loop_goes_on() -> None:
    gate = Gate()
    with Passwords(3, hasher=gate) as passwords:
        waiting = await begin(passwords, ("x", "a"), ("x", "b"), ("x", "c"))
        assert passwords.waiting == 3
        with pytest.raises(Refused, match=r"Too many bots are signing in at once\. Please try again") as refusal:
            await passwords.hash("y", "d")
        assert refusal.value.code == "busy"
        assert not any(future.done() for future in waiting)
        gate.open.set()
        assert len(await asyncio.gather(*waiting)) == 3
        assert passwords.waiting == 0
        assert await passwords.hash("y", "d")
        assert gate.threads == {"passwords_0"}


async def test_an_address_holds_at_most_half_of_the_queue() -> None:
    gate = Gate()
    with Passwords(7, hasher=gate) as passwords:
        waiting = await begin(passwords, *[("x", "many")] * 3)
        for _ in range(2):
            with pytest.raises(Refused, match=r"from your address at once\. Please try again") as refusal:
                await passwords.hash("x", "many")
            assert refusal.value.code == "busy"
        assert passwords.waiting == 3
        waiting += await begin(passwords, ("y", "one"), ("z", "other"))
        assert passwords.waiting == 5
        gate.open.set()
        await asyncio.gather(*waiting)
        assert await asyncio.gather(*(passwords.hash("x", "many") for _ in range(3)))


async def test_a_queue_of_one_takes_one() -> None:
    with Passwords(1, hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)) as passwords:
        assert await passwords.hash("x", HERE)


async def test_addresses_take_turns() -> None:
    gate = Gate()
    with Passwords(100, hasher=gate) as passwords:
        waiting = await begin(passwords, *[(f"many{n}", "many") for n in range(4)])
        waiting += await begin(passwords, ("few0", "few"), ("one0", "one"), ("few1", "few"))
        gate.open.set()
        await asyncio.gather(*waiting)
    assert gate.begun == ["many0", "few0", "one0", "many1", "few1", "many2", "many3"]


async def test_who_comes_again_stands_behind_those_who_wait() -> None:
    gate = Gate()
    with Passwords(100, hasher=gate) as passwords:

        async def again_and_again() -> None:
            for number in range(3):
                await passwords.hash(f"again{number}", "again")

        again = asyncio.ensure_future(again_and_again())
        await asyncio.sleep(0)
        waiting = await begin(passwords, *[(f"{name}{n}", name) for name in "ab" for n in range(2)])
        gate.open.set()
        await asyncio.gather(again, *waiting)
    assert gate.begun == ["again0", "a0", "b0", "again1", "a1", "b1", "again2"]


async def test_a_waiting_check_that_is_called_off_is_never_made() -> None:
    gate = Gate()
    with Passwords(6, hasher=gate) as passwords:
        first, second, third, other = await begin(
            passwords, ("first", HERE), ("second", HERE), ("third", HERE), ("other", "there")
        )
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert passwords.waiting == 3
        (fourth,) = await begin(passwords, ("fourth", HERE))  # its place is free again
        gate.open.set()
        await asyncio.gather(first, third, other, fourth)
        assert passwords.waiting == 0
    assert gate.begun == ["first", "other", "third", "fourth"]


async def test_checks_called_off_at_any_moment_hold_up_nobody() -> None:
    """Those that run, that are about to run and that wait, all at once and one a step of the loop."""
    for at_once in (True, False):
        gate = Gate()
        with Passwords(100, hasher=gate) as passwords:
            gone = await begin(passwords, *[("gone", "gone")] * 20)
            (stays,) = await begin(passwords, ("stays", "stays"))
            gate.open.set()
            for future in gone:
                future.cancel()
                if not at_once:
                    await asyncio.sleep(0)
            async with asyncio.timeout(10):
                await stays
            await asyncio.gather(*gone, return_exceptions=True)
            assert passwords.waiting == 0
            assert await passwords.hash("next", "gone")
        assert len(gate.begun) < 20


async def test_closing_waits_for_the_one_that_runs_and_drops_the_others() -> None:
    gate = Gate()
    passwords = Passwords(100, hasher=gate)
    running, *waiting = await begin(passwords, ("runs", "a"), *[("waits", whose) for whose in "aabbc"])
    gate.open.set()
    passwords.close()
    assert await running
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends] == [asyncio.CancelledError] * 5
    assert gate.begun == ["runs"]
    assert passwords.waiting == 0


async def test_a_failing_hasher_is_no_wrong_password() -> None:
    class Broken(PasswordHasher):
        def hash(self, password: Any, *, salt: bytes | None = None) -> str:
            raise HashingError("Memory allocation error")

    with Passwords(2, hasher=Broken()) as passwords:
        with pytest.raises(Refused, match="Memory allocation error") as refusal:
            await passwords.hash("x", HERE)
        assert refusal.value.code == "busy"


def test_tokens() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    for token in tokens:
        assert token.startswith(TOKEN_PREFIX)
        assert len(token) >= len(TOKEN_PREFIX) + 32
        assert looks_like_token(token)
        assert set(token) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
    assert not looks_like_token("cgos_short")
    assert not looks_like_token("x" * 48)


def test_a_tokens_digest_is_its_sha_256() -> None:
    # FIPS 180-2, appendix B.1
    assert digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
