"""Tournament reports that other programs wrote, and a pairing program that reads ours.

With the environment variable `TRF_CORPUS`, a directory, every tournament report in it is read and written back. With
`BBPPAIRINGS`, the program of the public repository BieremaBoyzProgramming/bbpPairings, that program's own events are
read and go back to it, and it reads events that our systems paired. It pairs by FIDE's rules, which are not those of
our systems: what its checker would have paired otherwise is counted and printed.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.tournaments.live_events import LiveEvent, settings_of

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Entrant, Event, Request, Result
from cgos_server.tournaments.event import Played, apply, begin, enter, open_games, request_bye, withdraw
from cgos_server.tournaments.files import formats as tournament_file
from cgos_server.tournaments.files import trf
from cgos_server.tournaments.files.sniffing import sniff
from cgos_server.tournaments.files.trf_event import to_event
from cgos_server.tournaments.files.trf_writing import Edition, from_event
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.tournament import next_round

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

Record = Callable[[str, object], None]

SIZES = ((4, 3), (5, 3), (9, 5), (16, 5), (23, 7), (40, 9), (80, 9))
"""Players, rounds."""

SEEDS = range(1, 11)
RATES = "ForfeitRate=12\nRetiredRate=40\nHalfPointByeRate=15\nDrawPercentage=30\n"
FOOTBALL = "PointsForWin=3.0\nPointsForDraw=1.0\n"
LIVE = ("dutch", "burstein", "monrad", "random2", "swiss", "accelrat", "mcmahon", "godraw", "epm", "weighted", "tcec")
"""Systems whose live events a report of a Swiss can hold."""

OURS = ("dutch", "burstein", "monrad", "swiss", "accelrat")
DIFFERS = re.compile(r"^ +[0-9]+ - *[0-9]* +[0-9]+ - *[0-9]*", re.MULTILINE)
WELL, NO_PAIRING = 0, 1
"""What the program returns where it succeeds, and where its rules allow no pairing."""


@pytest.fixture
def program() -> Callable[..., subprocess.CompletedProcess[str]]:
    if "BBPPAIRINGS" not in os.environ:
        pytest.skip("BBPPAIRINGS is not set: it names the program built from BieremaBoyzProgramming/bbpPairings")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [os.environ["BBPPAIRINGS"], "--dutch", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    return run


def test_the_reports_of_a_corpus_are_written_back_as_they_were_read(record_property: Record) -> None:
    if "TRF_CORPUS" not in os.environ:
        pytest.skip("TRF_CORPUS is not set: it names a directory with tournament reports")
    files = [path for path in sorted(Path(os.environ["TRF_CORPUS"]).rglob("*")) if path.is_file()]
    reports = [path for path in files if sniff("-", path.read_bytes()) == "trf"]
    assert reports
    refused = {}
    counts: Counter[str] = Counter(files=len(reports))
    for path in reports:
        data = path.read_bytes()
        assert trf.write(trf.read(data)) == data, path
        try:
            file = tournament_file.read(path.name, data)
        except Refused as problem:
            refused[path.name] = problem.sentence
            continue
        assert tournament_file.write(file, file.event) == data, path
        counts.update(events=1, players=len(file.event.entrants), rounds=len(file.event.rounds))
        counts["differing scores"] += len(tournament_file.check_scores(file))
        again = to_event(trf.read(trf.write(from_event(file.event)))) if not file.hindrances else file.event
        assert again == file.event, path
    record_property("counts", dict(counts))
    print(f"\nTRF corpus: {dict(counts)}; no events: {refused}")


def test_the_programs_own_events_have_its_scores_and_go_back_to_it(
    program: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, record_property: Record
) -> None:
    counts: Counter[str] = Counter()
    for players, rounds in SIZES:
        for seed in SEEDS:
            config, theirs, ours = tmp_path / "config", tmp_path / "theirs.trf", tmp_path / "ours.trf"
            usual = seed % 5 != 0
            config.write_text(f"PlayersNumber={players}\nRoundsNumber={rounds}\n{RATES}{'' if usual else FOOTBALL}")
            made = program("-g", config, "-o", theirs, "-s", seed)
            if made.returncode == NO_PAIRING:
                counts["not generated"] += 1
                continue
            assert made.returncode == WELL, made.stderr
            data = theirs.read_bytes()
            file = tournament_file.read(theirs.name, data)
            assert tournament_file.check_scores(file) == ()
            scores = ledger(file.event).lines
            assert {player.id: player.points for player in trf.read(data).players} == {
                id_: 5 * line.score for id_, line in scores.items()
            }
            assert tournament_file.write(file, file.event) == data
            counts.update(events=1, players=players, rounds=len(file.event.rounds))
            counts["scored 3 1 0"] += not usual
            if not usual:
                assert file.hindrances
                continue
            assert file.hindrances == ()
            longer = replace(file.event, planned=len(file.event.rounds) + 1)
            theirs.write_bytes(data + b"XXR %d\r" % (len(file.event.rounds) + 1))
            ours.write_bytes(tournament_file.fresh(longer, "trf"))
            assert program(ours, "-c").stdout.replace("ours", "theirs") == program(theirs, "-c").stdout
            next_of_ours, next_of_theirs = program(ours, "-p"), program(theirs, "-p")
            assert (next_of_ours.returncode, next_of_ours.stdout) == (next_of_theirs.returncode, next_of_theirs.stdout)
            assert next_of_ours.returncode in (WELL, NO_PAIRING), next_of_ours.stderr
            counts["next rounds alike"] += 1
    assert counts["events"] >= 50
    assert counts["scored 3 1 0"]
    record_property("counts", dict(counts))
    print(f"\nEvents of bbpPairings: {dict(counts)}")


@pytest.mark.parametrize("system", OURS)
def test_the_program_reads_the_events_of_our_systems(
    program: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, record_property: Record, system: str
) -> None:
    counts: Counter[str] = Counter()
    for players in (6, 11, 24):
        for seed in range(1, 5):
            event = _played(system, players, seed)
            file = tmp_path / "ours.trf"
            data = tournament_file.fresh(event, "trf")
            file.write_bytes(data)
            paired, checked = program(file, "-p"), program(file, "-c")
            assert paired.returncode in (WELL, NO_PAIRING), paired.stderr
            assert checked.returncode == WELL, checked.stderr
            games = sum(len(round_.games) for round_ in event.rounds)
            counts.update(events=1, rounds=len(event.rounds), games=games)
            counts["paired otherwise"] += len(DIFFERS.findall(checked.stdout))
            counts["next round paired"] += paired.returncode == WELL
            gone = {request.entrant for request in event.requests if request.round > len(event.rounds)} | set(
                event.withdrawn
            )
            there = {int(word) for word in " ".join(paired.stdout.split("\n")[1:]).split()}
            assert not there & gone
            if paired.returncode == WELL:
                assert there - {0} == {entrant.id for entrant in event.entrants} - gone
            written = tournament_file.read(file.name, data)
            assert ledger(written.event) == ledger(event)
    record_property(system, dict(counts))
    print(f"\n{system}: {dict(counts)}")


@pytest.mark.parametrize("edition", ["trf16", "trf-2026"])
@pytest.mark.parametrize("system", LIVE)
def test_the_program_reads_events_of_the_live_server(
    program: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, system: str, edition: Edition
) -> None:
    file = tmp_path / "live.trf"
    accepted = 0
    for seed in range(6):
        live = LiveEvent(settings_of(system, seed), random.Random(f"bbp {system} {seed}"))
        live.start(5 + seed)
        live.run(disturbances=3 * seed)
        event = replace(live.state.event, planned=len(live.state.event.rounds) + 1)
        data = trf.write(from_event(event, edition=edition))
        file.write_bytes(data)
        checked = program(file, "-c")
        if edition == "trf-2026":
            assert 'unsupported tournament type) "192 CUSTOM_SWISS"' in checked.stderr, "a type that it knows not"
            known_type = data.replace(b"192 CUSTOM_SWISS", b"192 FIDE_DUTCH_2025")  # for it alone, to read all else
            file.write_bytes(known_type)
            checked = program(file, "-c")
        assert checked.returncode == WELL, checked.stderr
        paired = program(file, "-p")
        assert paired.returncode in (WELL, NO_PAIRING), paired.stderr
        there = {int(word) for word in " ".join(paired.stdout.split("\n")[1:]).split()} - {0}
        assert not there & set(event.withdrawn)
        accepted += paired.returncode == WELL
    assert accepted


def _played(system: str, players: int, seed: int) -> Event:
    """Four rounds with forfeits, byes that were asked for, a withdrawal and a late entrant; everything by lot."""
    rng = random.Random(seed)
    ratings = sorted((float(rng.randint(1200, 2700)) for _ in range(players)), reverse=True)
    entrants = tuple(
        Entrant(id=at, name=f"Bot {at}", rating=rating, country="NOR") for at, rating in enumerate(ratings, 1)
    )
    event = Event(system=system, entrants=entrants, name="Ours", planned=9, seed=seed)
    results = [WHITE_WINS, BLACK_WINS, DRAWN, *rng.sample([Result(0, 2, "forfeit"), Result(0, 0, "forfeit")], 1)]
    for number in range(1, 5):
        if number == 2:
            event = enter(event, Entrant(id=players + 1, name="Late bot", rating=1800.0))
        if number == 3:
            event = withdraw(event, rng.randint(1, players))
        asking = rng.randint(1, players)
        event = request_bye(event, Request(asking, number + 1, rng.choice([0, 1])))
        event = begin(event, next_round(event))
        played = [
            Played(black=game.black, white=game.white, result=rng.choice(results), round=at)
            for at, game in open_games(event)
        ]
        event = apply(event, played)
    return event
