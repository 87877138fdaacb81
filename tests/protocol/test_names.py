"""Names and passwords: every fault has its sentence, nothing else is refused."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.names import (
    account_password_fault,
    bot_name_fault,
    fold,
    name_fault,
    normalize_passphrase,
    password_fault,
)

_WORDS = string.ascii_letters + string.digits + "_.-"


@pytest.mark.parametrize("name", ["abc", "GnuGo-3.8_L1", "_x_", "-a-", "...", "A" * 18, "e1x", "readme", "quitter"])
def test_good_names(name: str) -> None:
    assert name_fault(name) is None
    assert bot_name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ab", "at least 3"),
        ("", "at least 3"),
        ("A" * 19, "at most 18 characters, this one has 19"),
        ("1024", "digit"),
        ("9x9bot", "digit"),
        ("a b c", "only"),
        ("name\n", "only"),
        ("bob(1800)", "only"),
        ("a{b}c", "only"),
        ("J\u00fcrgen", "only"),
        ("\u0661\u0662\u0663abc", "only"),
        ("bot,x", "only"),
        ("QuiT", "quit"),
    ],
)
def test_bad_names(name: str, says: str) -> None:
    assert says in (name_fault(name) or "")
    assert says in (bot_name_fault(name) or "")


@pytest.mark.parametrize("name", ["admin", "ADMINistrator", "admin-2"])
def test_admin_names_are_for_persons_only(name: str) -> None:
    assert name_fault(name) is None
    assert "operators" in (bot_name_fault(name) or "")


@given(st.text(_WORDS, min_size=3, max_size=18))
def test_only_digits_admin_and_quit_are_refused_among_well_formed_names(name: str) -> None:
    expected = name[0].isdigit() or name.lower().startswith("admin") or name.lower() == "quit"
    assert (bot_name_fault(name) is not None) == expected


@given(st.text())
def test_a_name_without_fault_is_one_plain_word(name: str) -> None:
    if name_fault(name) is None:
        assert set(name) <= set(_WORDS)
        assert 3 <= len(name) <= 18


def test_names_that_differ_only_in_case_are_one() -> None:
    assert fold("GnuGo") == fold("gNUgO") != fold("GnuGo2")


@pytest.mark.parametrize("password", ["abc", '!~{}"\\', "x" * 128])
def test_good_passwords(password: str) -> None:
    assert password_fault(password) is None


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("ab", "at least 3"),
        ("", "at least 3"),
        ("x" * 129, "at most 128"),
        ("a b", "without blanks"),
        ("pass\n", "without blanks"),
        ("p\u00e4sswort", "ASCII"),
        ("a\x00bc", "printable"),
        ("a\x7fbc", "printable"),
        ("Quit", "quit"),
    ],
)
def test_bad_passwords(password: str, says: str) -> None:
    assert says in (password_fault(password) or "")


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("abcdefghi", "at least 10"),
        ("x" * 129, "at most 128"),
        ("ten\nletters", "line breaks"),
        ("\ud800" * 10, "control"),
    ],
)
def test_passwords_of_accounts_are_longer(password: str, says: str) -> None:
    assert says in (account_password_fault(password) or "")


@pytest.mark.parametrize(
    "password", ["abcdefghij", "correct horse battery", "пароль и ещё", "\U0001f600" * 10, "x" * 128]
)
def test_passwords_of_accounts_may_be_passphrases(password: str) -> None:
    assert account_password_fault(password) is None


def test_one_passphrase_is_composed_in_one_way() -> None:
    assert normalize_passphrase(" Sa\u0308uerliche Fu\u0308\u00dfe ") == "S\u00e4uerliche F\u00fc\u00dfe"
