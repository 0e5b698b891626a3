"""The objective: what a trace is worth, that a run is the same every time and in parts, and what it depends on."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from lns.engine import FoundBoard
from lns.engines import decisive_sources, engine_digest
from lns.instances.board import Board
from lns.instances.generate import family
from lns.params import from_dict
from lns.tuning.objective import (
    EARLY_BONUS,
    EDGE_WORTH,
    Families,
    Pair,
    Stopped,
    Trace,
    TrialRun,
    difference,
    worth_difference,
)
from tests.cli.run_program import ROOT

QUICK = from_dict({"construct": {"population": 200}})
TRACE = Trace(((50, 100), (52, 400), (53, 900)), 1000, False, 0.5)


def test_a_trace_tells_the_score_at_a_budget_and_the_worth_of_reaching_it_early():
    scores = [TRACE.score_at(budget) for budget in (99, 100, 399, 400, 1000)]
    assert scores == [0, 50, 50, 52, 53], "of the steps that were over by then"
    assert TRACE.value(1000, 52) == pytest.approx(53 + EARLY_BONUS * 0.6)
    assert TRACE.value(1000, 54) == pytest.approx(53)
    assert TRACE.value(500, 53) == pytest.approx(52)  # reached, but too late for this budget
    assert TRACE.covers(1000) and not TRACE.covers(1001)
    assert Trace(((60, 10),), 10, True, 0.1).covers(10**12), "nothing is left to search"
    assert difference(TRACE, TRACE, 1000) == 0
    assert 0 < difference(Trace(((53, 200),), 1000, False, 0.5), TRACE, 1000) < 1
    assert difference(Trace(((54, 999),), 1000, False, 0.5), TRACE, 1000) == pytest.approx(
        1 + EARLY_BONUS * (0.001 - 0.099) / 2
    ), "of 53 it was later by 0.099, of 54 earlier by 0.001 of the budget"


def test_the_difference_is_antisymmetric():
    """Or a candidate no different from the defaults would look a little better, or worse, than they are."""
    chance = np.random.default_rng(5)

    def trace():
        at = np.sort(chance.integers(1, 1000, 6)).tolist()
        best_scores = tuple(zip((50 + np.cumsum(chance.integers(1, 3, 6))).tolist(), at, strict=True))
        worths = tuple(zip((50 + chance.random(6).cumsum()).tolist(), at, strict=True))
        return Trace(best_scores, 1000, bool(chance.integers(2)), 0.5, 0.5, worths)

    for _ in range(50):
        one, other = trace(), trace()
        for compared in (difference, worth_difference):
            assert compared(one, other, 900) == pytest.approx(-compared(other, one, 900))


def worth(*scores, different=True):
    """Worth of boards with these scores, said to be, that differ in nearly all cells or in two."""
    chance, families = np.random.default_rng(1), Families(458)
    order = chance.permutation(64)
    for score in scores:
        order = chance.permutation(order) if different else np.r_[order[1::-1], order[2:]]
        families.add(FoundBoard(Board((4 * order).astype(np.int32), 8, 8), score, "construct"))
    return families.worth


def test_trials_are_compared_by_the_number_of_distinct_boards_at_and_just_below_the_best():
    assert worth() == worth(457) == 0
    assert worth(458) == 458 and worth(460) == 460, "a board alone is worth its score"
    assert worth(*[460] * EDGE_WORTH) == pytest.approx(461) == worth(461)
    assert worth(*[459] * EDGE_WORTH) == pytest.approx(460), "an edge more is worth so many boards"
    assert worth(460) < worth(460, 458) < worth(460, 459) < worth(460, 460) < worth(460, 460, 460) < worth(461, 458)
    assert worth(460, *[457] * 50) == 460, "boards below the floor do not count"
    assert worth(459, 460, 458, 460, different=False) == 460, "boards of one family are one, by the best of them"


def test_the_worth_at_a_budget_is_at_least_the_score():
    told = replace(TRACE, worths=((52.5, 400), (53.25, 900)))
    assert [told.worth_at(budget) for budget in (99, 100, 400, 1000)] == [0, 50, 52.5, 53.25]
    assert worth_difference(told, TRACE, 1000) == 0.25 and worth_difference(told, TRACE, 300) == 0
    lucky = replace(told, best_scores=((53, 50),))
    assert worth_difference(lucky, told, 1000) == 0 < difference(lucky, told, 1000)
    perfect = [Trace(((60, at),), at, True, 0.1) for at in (100, 300)]
    assert worth_difference(*perfect, 1000) == difference(*perfect, 1000) > 0, "of two perfect boards the earlier one"


@pytest.mark.parametrize("engine", ["auto", "tabu", "beam", "lns"])
def test_every_engine_is_worth_at_least_its_score(engine):
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "", 50)
    trace = TrialRun(engine, QUICK, pair, 100_000).advance(5_000_000, lambda: False)
    assert pair.puzzle.max_score >= trace.worth_at(5_000_000) >= trace.score_at(5_000_000) > 0
    assert not TrialRun(engine, QUICK, replace(pair, floor=0), 100_000).advance(1_000_000, lambda: False).worths


def test_a_run_is_the_same_every_time_and_when_it_is_continued():
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "", 45)
    whole = TrialRun("auto", QUICK, pair, 500_000).advance(2_000_000, lambda: False)
    parts = TrialRun("auto", QUICK, pair, 500_000)
    for budget in (500_000, 1_000_000, 2_000_000):
        trace = parts.advance(budget, lambda: False)
    assert (trace.best_scores, trace.worths, trace.nodes) == (whole.best_scores, whole.worths, whole.nodes)
    assert whole.score_at(2_000_000) > 45


def test_a_run_stops_when_told_to():
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "")
    with pytest.raises(Stopped):
        TrialRun("auto", QUICK, pair, 500_000).advance(10**12, lambda: True)


@pytest.mark.slow
def test_worths_tell_good_parameters_from_poor_ones_where_scores_do_not():
    """Six pairs of runs; the poor parameters find few boards, some of them as good."""
    pair = Pair(family("like-e2:11x11")(3).puzzle, 0, "")
    poor = from_dict({"construct": {"population": 200, "quota_scale": 0.9, "schedule_slack": 4}})
    differences, scores = [], []
    for seed in range(6):
        floored = replace(pair, seed=seed, floor=205)
        runs = [TrialRun("construct", params, floored, 5_000_000).advance(40_000_000, lambda: False)
                for params in (QUICK, poor)]  # fmt: skip
        differences.append(worth_difference(*runs, 40_000_000))
        scores.append(runs[0].score_at(40_000_000) - runs[1].score_at(40_000_000))
        assert all(run.worth_at(40_000_000) >= run.score_at(40_000_000) for run in runs)
    assert min(differences) > 0 == min(scores)


# -- the sources that decide a run -------------------------------------------------------------------------------------


def test_what_a_run_imports_changes_the_digest_and_nothing_else_does(tmp_path):
    sources = {
        "lns/tuning/objective.py": "from lns.engines import make_engine\nfrom lns.exact.kernels import jit\n",
        "lns/engines.py": "def make_engine():\n    from lns.tabu.engine import TabuEngine\n",
        "lns/tabu/engine.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import lns.runs.page\n",
        "lns/__init__.py": "def __getattr__(name):\n    import lns.runs.page\n",
        "lns/exact/kernels/jit.py": "import numba\n",
        "lns/runs/page.py": "",
        "lns/tuning/report.py": "",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    before = {engine_digest("lns.tuning.objective", tmp_path)}
    for name in sources:
        (tmp_path / name).write_text(sources[name] + "PRICE = 5.0\n")
        engine_digest.cache_clear()
        now = engine_digest("lns.tuning.objective", tmp_path)
        assert (now not in before) == (name not in ("lns/runs/page.py", "lns/tuning/report.py")), name
        before.add(now)


def test_the_digest_covers_all_that_a_run_loads_and_no_command():
    program = (
        "import sys, lns.tuning.objective; print(*(getattr(m, '__file__', None) for m in [*sys.modules.values()]))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {path for path in done.stdout.split() if path.startswith(f"{ROOT}/") and "/.venv/" not in path}
    covered = {str(path) for path in decisive_sources("lns.tuning.objective")}
    assert loaded and loaded <= covered
    for room in ("lns/cli", "lns/terminal", "lns/runs", "lns/tuning/cli", "lns/instances/draw", "lns/exact/sat"):
        assert not [path for path in covered if path.startswith(f"{ROOT}/{room}")], room
