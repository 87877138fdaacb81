"""Who succeeds whom: of several links the latest counts, nobody comes from itself, and rating systems see the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.core.rating.bayes.system import Bayes
from cgos_server.core.rating.lineage import Lineage, Predecessor
from cgos_server.core.rating.registry import rating_system

VERSIONS = [VersionId(number) for number in range(1, 7)]


def lineage_of(*entries: tuple[Kind, int, int]) -> Lineage:
    lineage = Lineage()
    for seq, (kind, version, other) in enumerate(entries, 1):
        lineage.fold(Entry(seq, kind, VersionId(version), other=VersionId(other)))
    return lineage


def pairs(lineage: Lineage) -> list[tuple[int, int]]:
    return [(version, predecessor.version) for version, predecessor in lineage.links()]


def test_of_several_links_the_latest_counts() -> None:
    lineage = lineage_of((Kind.ENTER, 3, 1), (Kind.LINK, 3, 2))
    assert pairs(lineage) == [(3, 2)]
    lineage.fold(Entry(3, Kind.LINK, VERSIONS[2], other=VERSIONS[1], sd=40.0, surely=True))
    assert lineage.predecessor(VERSIONS[2]) == Predecessor(VERSIONS[1], 40.0, True)


def test_withdrawn_is_the_link_that_counts_and_no_other() -> None:
    links = ((Kind.LINK, 3, 1), (Kind.LINK, 3, 2), (Kind.UNLINK, 3, 1))
    assert pairs(lineage_of(*links)) == [(3, 2)]
    assert pairs(lineage_of(*links, (Kind.UNLINK, 3, 2))) == []


def test_of_a_circle_the_link_that_closes_it_counts() -> None:
    chain = ((Kind.LINK, 2, 1), (Kind.LINK, 3, 2), (Kind.LINK, 4, 3))
    assert pairs(lineage_of(*chain, (Kind.LINK, 2, 4))) == [(2, 4), (4, 3)]


def test_who_descends_from_whom() -> None:
    lineage = lineage_of((Kind.LINK, 2, 1), (Kind.LINK, 3, 2), (Kind.LINK, 5, 4))
    one, two, three, four, five, _ = VERSIONS
    assert [lineage.descends(three, other) for other in VERSIONS[:5]] == [True, True, True, False, False]
    assert not lineage.descends(one, three)
    assert lineage.descends(five, four)
    assert lineage.descends(two, two)


def test_entries_that_link_nothing_change_nothing() -> None:
    lineage = lineage_of((Kind.LINK, 2, 1))
    lineage.fold(Entry(2, Kind.ENTER, VERSIONS[2], value=1800.0))
    lineage.fold(Entry(3, Kind.GAME, black=VERSIONS[0], white=VERSIONS[1], score2=2))
    assert pairs(lineage) == [(2, 1)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([Kind.LINK, Kind.UNLINK]),
            st.permutations(VERSIONS).map(lambda order: order[:2]),
            st.sampled_from([None, 30.0]),
            st.booleans(),
        ),
        max_size=25,
    )
)
def test_a_rating_system_has_the_same_links(entered: list[tuple[Kind, list[VersionId], float | None, bool]]) -> None:
    bayes = rating_system("bayes", 1800.0, {})
    assert isinstance(bayes, Bayes)
    state, lineage = bayes.start(), Lineage()
    entries = [Entry(seq, Kind.ENTER, version, value=1800.0) for seq, version in enumerate(VERSIONS, 1)]
    for seq, (kind, (version, other), sd, surely) in enumerate(entered, len(entries) + 1):
        stated = {"sd": sd, "surely": surely} if kind is Kind.LINK else {}
        entries.append(Entry(seq, kind, version, other=other, **stated))
    for entry in entries:
        state, _ = bayes.fold(state, entry)
        lineage.fold(entry)
    links = {
        state.ids[link.new]: Predecessor(state.ids[link.old], link.sd, link.surely) for link in state.links.values()
    }
    assert dict(lineage.links()) == links
