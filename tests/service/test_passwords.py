from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import HashingError

from cgos_server.errors import Refused
from cgos_server.service.passwords import (
    TOKEN_PREFIX,
    Passwords,
    digest,
    looks_like_token,
    new_token,
    standard_hasher,
)


async def test_only_the_right_password_is_right(passwords: Passwords) -> None:
    stored = await passwords.hash("secret")
    assert stored.startswith("$argon2id$")
    assert "secret" not in stored
    assert await passwords.verify(stored, "secret")
    assert not await passwords.verify(stored, "Secret")
    assert not await passwords.verify("", "secret")
    assert stored != await passwords.hash("secret")


def test_the_cost_is_what_is_promised() -> None:
    hasher = standard_hasher()
    assert (hasher.memory_cost, hasher.time_cost, hasher.parallelism) == (19456, 2, 1)
    assert standard_hasher().hash("x").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


class Gate(PasswordHasher):
    """Hashes when the test opens it."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.open = threading.Event()
        self.threads: set[str] = set()

    def hash(self, password: Any, *, salt: bytes | None = None) -> str:
        assert self.open.wait(10)
        self.threads.add(threading.current_thread().name)
        return super().hash(password, salt=salt)


async def test_a_full_queue_refuses_and_the_loop_goes_on() -> None:
    gate = Gate()
    with Passwords(3, hasher=gate) as passwords:
        waiting = [asyncio.ensure_future(passwords.hash("x")) for _ in range(3)]
        await asyncio.sleep(0)
        assert passwords.waiting == 3
        with pytest.raises(Refused, match="try again") as refusal:
            await passwords.hash("y")
        assert refusal.value.code == "busy"
        assert not any(future.done() for future in waiting)
        gate.open.set()
        assert len(await asyncio.gather(*waiting)) == 3
        assert passwords.waiting == 0
        assert await passwords.hash("y")
        assert gate.threads == {"passwords_0"}


async def test_a_waiting_check_can_be_called_off() -> None:
    gate = Gate()
    with Passwords(2, hasher=gate) as passwords:
        first, second = (asyncio.ensure_future(passwords.hash("x")) for _ in range(2))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert passwords.waiting == 1
        gate.open.set()
        await first


async def test_a_failing_hasher_is_no_wrong_password() -> None:
    class Broken(PasswordHasher):
        def hash(self, password: Any, *, salt: bytes | None = None) -> str:
            raise HashingError("Memory allocation error")

    with Passwords(2, hasher=Broken()) as passwords:
        with pytest.raises(Refused, match="Memory allocation error") as refusal:
            await passwords.hash("x")
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
