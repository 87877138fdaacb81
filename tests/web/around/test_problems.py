"""Which status the API gives to each refusal. The list beside this file was written once; programs rely on it."""

from __future__ import annotations

import json
from pathlib import Path

from cgos_protocol.errors import Code, RateLimited, Refused
from cgos_server.web.around.problems import problem_of

STATUSES: dict[str, int] = json.loads(Path(__file__).with_name("status_by_code.json").read_text("utf-8"))


def test_each_refusal_has_its_status() -> None:
    assert {str(code): problem_of(Refused.of(code, "No.")).status for code in Code} == STATUSES


def test_a_refusal_of_a_newer_server_is_a_problem_too() -> None:
    problem = problem_of(Refused.of(Code("of-tomorrow"), "Tomorrow."))
    assert (problem.status, problem.code, problem.detail) == (422, "of-tomorrow", "Tomorrow.")


def test_whoever_asked_too_much_is_told_which_limit_that_was_and_when_to_come_back() -> None:
    for code in Code:
        problem = problem_of(Refused.of(code, "No."))
        limited = code.kind is RateLimited
        assert (problem.limit is not None, problem.retry_after_s is not None) == (limited, limited), code
