"""Looking up what pairs have had with each other."""

from __future__ import annotations

import pickle
from array import array
from dataclasses import replace
from itertools import chain

import numpy as np
from hypothesis import given
from support.core.pairing_passes import pairing_passes

from cgos_server.core.pairing.base import Candidate, Meeting, PairingPass
from cgos_server.core.pairing.explain import decode_inputs, encode_inputs
from cgos_server.core.pairing.meetings import Meetings, PairHistory, Places, Rows, among


@given(pairing_passes())
def test_every_pair_finds_its_meeting_whichever_side_asks(pairing_pass: PairingPass) -> None:
    n = len(pairing_pass.candidates)
    i, j = np.divmod(np.arange(n * n), max(1, n))
    by_pair = {(m.a, m.b): m[2:] for m in pairing_pass.meetings}
    by_pair |= {(m.b, m.a): (m[3], m[2], m[5], m[4], m[7], m[6]) for m in pairing_pass.meetings}
    meetings = Meetings(pairing_pass)
    rows = np.array(meetings.of(i, j)).T.tolist()
    where, looked_up = meetings.lookup(i, j)
    for at, (first, second) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        pair = pairing_pass.candidates[first].id, pairing_pass.candidates[second].id
        assert (at in where) == (pair in by_pair)
        if pair in by_pair:
            assert tuple(rows[at]) == by_pair[pair]
    assert np.array(looked_up).T.tolist() == [rows[at] for at in where.tolist()]
    assert len(where) == 2 * len(pairing_pass.meetings)


@given(pairing_passes())
def test_rows_are_meetings_like_any_others(pairing_pass: PairingPass) -> None:
    rows = pickle.loads(pickle.dumps(Rows(array("q", chain.from_iterable(pairing_pass.meetings)))))
    assert list(rows) == list(pairing_pass.meetings) == list(rows[:])
    assert len(rows) == len(pairing_pass.meetings)
    assert all(rows[at] == meeting for at, meeting in enumerate(pairing_pass.meetings))
    assert decode_inputs(encode_inputs(replace(pairing_pass, meetings=rows))).meetings == list(pairing_pass.meetings)
    there = np.arange(len(pairing_pass.candidates))
    columns, expected = (
        Meetings(inputs).of(there, there[::-1]) for inputs in (replace(pairing_pass, meetings=rows), pairing_pass)
    )
    assert np.array_equal(columns, expected)


def test_who_is_no_candidate_is_left_out() -> None:
    pairing_pass = PairingPass(
        candidates=[Candidate(7, "a", 0.0), Candidate(5, "b", 0.0)],
        meetings=[Meeting(7, 9, 1, 1), Meeting(5, 7, 2, 3, 4, 5, 6, 7)],
    )
    columns = Meetings(pairing_pass).of(np.array([0, 1]), np.array([1, 0]))
    assert [column.tolist() for column in columns] == [[3, 2], [2, 3], [5, 4], [4, 5], [7, 6], [6, 7]]
    nobody = Meetings(PairingPass(candidates=[])).lookup(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert [len(part) for part in nobody[1]] == [0] * len(PairHistory._fields)


def test_places() -> None:
    places = Places(PairingPass(candidates=[Candidate(v, "x", 0.0) for v in (30, 10, 20)]))
    assert places.of(np.array([10, 20, 30, 40, 0])).tolist() == [1, 2, 0, -1, -1]
    assert (
        places.pairs([(0, (10, 99)), (1, (30, 10)), (2, ())]).tolist()
        == places.keys(np.array([0]), np.array([1])).tolist()
    )
    assert among(np.array([3, 5, 9]), np.array([1, 5])).tolist() == [False, True, False]
    assert Places(PairingPass(candidates=[])).of(np.array([1])).tolist() == [-1]
