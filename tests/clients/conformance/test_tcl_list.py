"""Lists as Tcl reads them: by a table, and against Tcl itself where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.clients.tcl_list import NotAList, split

from cgos_client.conformance.tcl_list import list_fault


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  setup 1\t9 ", ["setup", "1", "9"]),
        ("a {b c} d", ["a", "b c", "d"]),
        ("a {b {c} d} e", ["a", "b {c} d", "e"]),
        (r"{a\} b} c", [r"a\} b", "c"]),
        ('"a b" c', ["a b", "c"]),
        (r'"a\"b" c', ['a"b', "c"]),
        ("doesn't a\"b a{b a}", ["doesn't", 'a"b', "a{b", "a}"]),
        (r"a\ b \x41 \101 \t \q a\\", ["a b", "A", "A", "\t", "q", "a\\"]),
        ("{}", [""]),
        ("[D4] $x ;", ["[D4]", "$x", ";"]),
    ],
)
def test_lists(text: str, words: list[str]) -> None:
    assert split(text) == words
    assert list_fault(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("play b {D4 60000", "unmatched open brace"),
        ('play b "D4 60000', "unmatched open quote"),
        ("{a}b", "in braces followed by 'b'"),
        ('"a"b', "in quotes followed by 'b'"),
        (r"{a\}", "unmatched open brace"),
    ],
)
def test_no_lists(text: str, reason: str) -> None:
    with pytest.raises(NotAList, match=reason) as caught:
        split(text)
    assert list_fault(text) == str(caught.value)


@settings(max_examples=500, deadline=None)
@given(text=st.text('ab {}"\\[]$;\t\n01x', max_size=16))
def test_a_fault_is_found_where_the_words_cannot_be_told(text: str) -> None:
    reason = None
    try:
        split(text)
    except NotAList as error:
        reason = str(error)
    assert list_fault(text) == reason


ASK = """
fconfigure stdout -encoding utf-8
set text [encoding convertfrom utf-8 [binary decode hex [lindex $argv 0]]]
set words {}
if {[catch {foreach word $text {lappend words [binary encode hex [encoding convertto utf-8 $word]]}}]} {
    puts error
} else {
    puts "words [join $words ,]"
}
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tcl") / "ask.tcl"
    file.write_text(ASK)
    return file


@settings(max_examples=60, deadline=None)
@given(text=st.text('ab {}"\\[]$;\t\n01x', max_size=16))
def test_tcl_reads_the_same(text: str, script: Path) -> None:
    tclsh = shutil.which("tclsh")
    if tclsh is None:
        pytest.skip("tclsh is not installed here")
    command = [tclsh, str(script), text.encode().hex()]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    try:
        ours = "words " + ",".join(word.encode().hex() for word in split(text))
    except NotAList:
        ours = "error"
    assert answer.stdout.removesuffix("\n") == ours
