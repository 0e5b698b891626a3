"""The estimate: rates are those of a recount, the table falls with the score, what was not measured is said."""

import itertools
import time
from collections import Counter

import numpy as np
import pytest

import lns
from lns import rates as measuring
from lns.api import estimating
from lns.construct import schedule
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.verify import verify
from lns.params import from_dict
from lns.rates import Measurement, Tally

QUICK = from_dict({"construct": {"population": 200, "restart_nodes": 3_000_000}, "engine": {"step_nodes": 300_000}})


def test_boards_that_share_most_of_their_cells_are_one_family():
    tally = Tally(seconds=2.0)
    first = np.arange(100, dtype=np.int32)
    near, far = first.copy(), first.copy()
    near[:19] += 1
    far[:20] += 1
    for placements in (first, near, far, first):
        tally.add(placements)
    assert (tally.boards, tally.count) == (4, 2)
    assert tally.per_hour == 3600
    tiny = Tally(seconds=1.0)
    for _ in range(3):
        tiny.add(np.arange(2, dtype=np.int32))
    assert (tiny.boards, tiny.count) == (3, 1), "equal ones however small they are"


def test_a_rate_read_at_the_last_board_is_not_biased_upwards(monkeypatch):
    """Boards at random, one a second on average: their rate read off at the last one is 1 a second on average."""
    monkeypatch.setattr(measuring, "RAISE_TARGET_COUNT", 5)
    chance = np.random.default_rng(1)
    rates = []
    for _ in range(400):
        tally = Tally(seconds=float(chance.exponential(1.0, 5).sum()))
        for number in range(5):
            tally.add(np.full(100, number, dtype=np.int32))
        rates.append(tally.per_hour / 3600)
    assert np.mean(rates) == pytest.approx(1.0, abs=4 * np.std(rates) / 20) and np.std(rates) < 1


def test_the_counts_are_those_of_the_boards(monkeypatch, caplog):
    """Every board that the search constructs is looked at again: none is lost, none counted at a wrong score."""
    caplog.set_level("INFO", logger="lns")
    puzzle = load_puzzle("like-e2-10x10")
    seen: Counter[int] = Counter()
    true_verify = verify

    def watching(*arguments):
        judged = true_verify(*arguments)
        seen[judged.score] += 1
        return judged

    measured = Measurement(puzzle, QUICK, 1)
    monkeypatch.setattr("lns.engine.verify", watching)
    while (measured.target == 1 or sum(seen.values()) <= 20) and measured.seconds < 60:
        measured.run(measured.seconds + 0.5)
    assert sum(seen.values()) > 20
    assert f"{measuring.RAISE_TARGET_COUNT} different boards of " in caplog.text, "progress is told"
    highest = max(seen)
    assert measured.tallies[highest].boards == seen[highest]
    for score, tally in measured.tallies.items():
        assert tally.count <= tally.boards <= sum(number for at, number in seen.items() if at >= score)
    seconds = [tally.seconds for tally in measured.tallies.values()]
    assert seconds == sorted(seconds) and seconds[-1] == pytest.approx(measured.seconds)


@pytest.mark.slow
def test_estimated_rates_fall_with_the_score_and_measured_ones_are_marked():
    found = lns.estimate("like-e2-12x12", params=QUICK, seed=1, time=5.0)
    scores = [row.score for row in found.rows]
    assert scores == list(range(scores[0], scores[-1] + 1)) and scores[0] <= found.measured_score < scores[-1] <= 264
    for row in found.rows:
        assert 0 < row.low <= row.expected <= row.high
        assert (row.measured is None) == (row.count == 0)
        assert row.score > found.measured_score or row.measured == row.expected
    beyond = [row for row in found.rows if row.score >= found.measured_score]
    for row, following in itertools.pairwise(beyond):
        assert row.expected > following.expected and row.low > following.low and row.core_days < following.core_days
    assert scores[-1] == 264 or found.rows[-1].core_days > estimating.MAX_CORE_DAYS


def test_the_preparation_counts_and_ends_with_the_time(monkeypatch):
    """On a board of 64 x 64 it takes minutes."""
    measured = Measurement(load_puzzle("like-e2-10x10"), QUICK, 1)
    assert measured.construction.constructor is not None and measured.best > 0
    assert measured.nodes == 0 and measured.seconds == 0, "the clock begins when the construction is ready"
    asked = []
    monkeypatch.setattr(Measurement, "run", lambda self, seconds: asked.append(seconds))
    with pytest.raises(InputError, match="expected a longer time"):
        lns.estimate("like-e2-10x10", params=QUICK, seed=1, time=2.0)
    assert len(asked) == 1 and asked[0] < 2.0
    short = Measurement(load_puzzle("like-e2-10x10"), QUICK, 1, 0.0)
    assert short.construction.constructor is None and short.preparation_s < 2.0


def test_a_step_that_is_longer_than_the_time_is_cut_short(monkeypatch):
    """So are those of a board of 64 x 64."""

    def step(*_):
        while True:
            sum(range(1000))

    monkeypatch.setattr(measuring.Construction, "repair", step)
    start = time.process_time()
    with pytest.raises(InputError, match=r"in 0\.2 s; expected a longer time"):
        lns.estimate("like-e2-10x10", params=QUICK, seed=1, time=0.2)
    assert time.process_time() - start < 5.0


def test_few_boards_are_extrapolated_from_where_they_came(monkeypatch):
    """Too few for a good rate at any score: the table begins there all the same, not at the target of 1 edge."""

    def five_boards(measured, seconds):
        measured.seconds = 60.0
        for tally in measured.tallies.values():
            tally.seconds = 60.0
        for number in range(5):
            for score in range(1, 251 + number):
                measured.tallies[score].add(np.full(144, number, dtype=np.int32))

    monkeypatch.setattr(Measurement, "run", five_boards)
    found = lns.estimate("like-e2-12x12", params=QUICK, seed=1, time=60.0)
    assert found.measured_score == 250 and found.rows[0].score == 250 - estimating.SHOWN_BELOW
    row = next(row for row in found.rows if row.score == 250)
    assert row.count == 5 and row.expected == row.measured == pytest.approx(5 * 60)
    assert row.high / row.expected == row.expected / row.low == pytest.approx(np.exp(2 / np.sqrt(5)))


def test_the_forecast_without_breaks_is_the_expected_number_of_perfect_boards():
    """Rows of one cell kind, c candidates a cell: the product over the nodes, by hand; and breaks by recursion."""
    exact = np.array([3.0, 2.0, 0.5, 0.25, 1.5])
    breaking = np.array([0.0, 1.0, 2.0, 4.0, 0.5])
    nodes = 3 + 6 + 3 * (1 + 10)  # by hand: three depths before the cut at 3, and ten for each tail
    none = np.zeros(0, dtype=np.int64)
    finish = schedule.expected_completions(exact[3:], breaking[3:], 0)
    assert schedule.boards_per_node(exact[:3], breaking[:3], none, finish, 10.0) == pytest.approx(exact.prod() / nodes)

    def boards(depth: int, spent: int) -> float:
        if depth == 5:
            return 1.0
        allowed = 2 if depth >= 3 else int(depth >= 1)  # one break unlocked at depth 1; the tail may have two in all
        more = breaking[depth] * boards(depth + 1, spent + 1) if spent < allowed else 0.0
        return exact[depth] * boards(depth + 1, spent) + more

    def made(depth: int, spent: int) -> float:
        if depth == 3:
            return 10.0
        more = breaking[depth] * (1 + made(depth + 1, spent + 1)) if spent < int(depth >= 1) else 0.0
        return exact[depth] * (1 + made(depth + 1, spent)) + more

    unlock = np.array([1], dtype=np.int64)
    finish = schedule.expected_completions(exact[3:], breaking[3:], 2)
    got = schedule.boards_per_node(exact[:3], breaking[:3], unlock, finish, 10.0)
    assert got == pytest.approx(boards(0, 0) / made(0, 0))
