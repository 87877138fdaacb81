"""Names in texts: whole ones are replaced, parts of others never."""

from __future__ import annotations

import json

import pytest

from cgos_server.core.renaming import Renaming, shortest

RENAMING = Renaming({"Tree": "deleted-2", "Tree-2.0": "deleted-2-2", "bot.x": "deleted-4"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tree", "deleted-2"),
        ("Tree.", "deleted-2."),
        ("TREE lost; tree-2.0 won.", "deleted-2 lost; deleted-2-2 won."),
        ("Tree(1800?), bot Tree: 'Tree'", "deleted-2(1800?), bot deleted-2: 'deleted-2'"),
        ("Trees, a-Tree, Tree-house, x.Tree, Tree.5, Tree_2, Tree-2.01", None),
        ("bot.x botax", "deleted-4 botax"),
    ],
)
def test_whole_names_are_replaced(text: str, expected: str | None) -> None:
    assert RENAMING.text(text) == (text if expected is None else expected)


def test_json_keeps_its_keys_and_what_names_nobody_its_bytes() -> None:
    assert json.loads(RENAMING.json('{"Tree": ["Tree", 1.50, {"a": "of Tree"}]}')) == {
        "Tree": ["deleted-2", 1.5, {"a": "of deleted-2"}]
    }
    for text in ('{"Tree": 1.50}', '{"other" :  1}', ""):
        assert RENAMING.json(text) == text
    assert RENAMING.json("Tree, no JSON") == "deleted-2, no JSON"


def test_names_that_have_another_one_in_them_need_not_be_looked_for() -> None:
    assert shortest(["Tree-2.0", "Tree", "oak", "OAK", "soak", "elm"]) == ["elm", "oak", "tree"]
    assert shortest([]) == []
