"""The construction on a graphics card: its lanes against the processor's search, and what comes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lns.cli.main import main
from lns.construct.constructor import Constructor
from lns.construct.quota_bandit import QuotaBandit
from lns.gpu import card as cards
from lns.gpu import search
from lns.gpu.card import Card, CudaCard, Twin
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.verify import verify
from lns.loop.construction import Construction
from lns.loop.pool import WHOLE_BOARD, Found
from lns.orientation import Orientation
from lns.params import from_dict
from lns.rng import random_state
from lns.runs.run_summary import RunTable, load_summary
from tests.instances.small_puzzles import planted
from tests.lns.gpu_trees import LANES, compared, numbers

ROOT = Path(__file__).parents[2]
BRIEF = from_dict({"engine": {"step_nodes": 100_000}, "construct": {"restart_nodes": 20_000, "population": 200}})


@pytest.mark.parametrize("turns", [50, 100_000])
def test_trees_of_small_boards_are_equal_node_for_node(turns: int) -> None:
    """With launches of few turns too, between which the lanes keep their place."""
    assert {number: said for number in numbers() if (said := compared(number, Twin(LANES), turns))} == {}


def test_the_same_trees_in_the_simulator_of_a_card() -> None:
    env = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.lns.gpu_trees"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "50 trees are equal\n"), done.stderr


def constructed(monkeypatch: pytest.MonkeyPatch, card: Card, steps: int = 25) -> tuple[Construction, list[Found]]:
    """A construction with a card on 8x8, and its boards of at least 103."""
    monkeypatch.setattr(search, "TURNS", 3000)
    monkeypatch.setattr(search, "NODES_BELOW", 300)
    monkeypatch.setattr(search, "LEAST_LAUNCHES", 6)
    orientation = Orientation.of_island(load_puzzle("like-e2-8x8"))
    params = replace(BRIEF, engine=replace(BRIEF.engine, search_floor=103))
    made = Construction(orientation, params, 1, 0, open_card=lambda: card)
    rng = np.random.default_rng(1)
    return made, [found for _ in range(steps) for found in made.repair(WHOLE_BOARD, 105, rng).boards]


def test_what_comes_to_the_cut_is_finished_exactly_and_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = load_puzzle("like-e2-8x8")
    made, boards = constructed(monkeypatch, Twin())
    of_card = [found for found in boards if found.origin == "gpu"]
    assert of_card
    for found in of_card:
        verdict = verify(puzzle, found.board)
        assert verdict.complete and verdict.score >= 103
    assert made.statistics.card_nodes > 20_000 and "lanes" in made.statistics.summary(1.0)
    again = constructed(monkeypatch, Twin())[1]
    assert [found.board for found in again] == [found.board for found in boards]
    assert not {found.board for found in of_card} & {found.board for found in boards if found.origin != "gpu"}


def test_a_resumed_construction_gives_the_card_another_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = constructed(monkeypatch, Twin())
    orientation = Orientation.of_island(load_puzzle("like-e2-8x8"))
    again = Construction(orientation, BRIEF, 1, 0, open_card=Twin)
    again.restore(made.state())
    rng = np.random.default_rng(1)
    for _ in range(300):
        again.repair(WHOLE_BOARD, 112, rng)
    assert again.statistics.card_nodes > 0


def test_a_card_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    class Lost(Twin):
        def wait(self) -> np.ndarray:
            raise RuntimeError("an illegal memory access was encountered")

    made, boards = constructed(monkeypatch, Lost(), 20)
    assert boards and {found.origin for found in boards} == {"construct"}
    assert made.statistics.failures == {"gpu": 1}
    told = [record.message for record in caplog.records]
    assert told == [
        "the search goes on without the graphics card: RuntimeError: an illegal memory access was encountered"
    ]


def test_lanes_get_new_prefixes_after_a_time_that_was_too_short_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_NODES", "REFILL_NODES"):
        monkeypatch.setattr(search, name, 10)
    made, _ = constructed(monkeypatch, Twin())
    assert made.card is not None and made.card.statistics.nodes > 100


def test_the_cards_of_two_islands_search_other_prefixes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "NODES_BELOW", 10**9)
    orientation, got = Orientation.of_island(load_puzzle("like-e2-16x16")), []
    for part in range(2):
        random, card = random_state(1, 0), Twin(64)
        schedule = QuotaBandit(orientation.puzzle, BRIEF.construct, random, orientation.views).choose_schedule(16)
        constructor = Constructor(orientation.puzzle, BRIEF.construct, schedule, random, (part, 2))
        constructor.run(20_000, 481)
        search.CardSearch(orientation.puzzle, BRIEF.construct, card).take(constructor)
        queue = card.state.queue.reshape(search.SLOTS, -1, 64)
        got.append({tuple(prefix) for slot in queue for prefix in slot.T.tolist() if any(prefix)})
    assert min(map(len, got)) > 100 and not got[0] & got[1]


def test_status_says_what_the_card_did(tmp_path: Path) -> None:
    command = "solve like-e2-8x8 --engine tabu --steps 1 --workers 1 --quiet --run-dir"
    assert main([*command.split(), str(tmp_path / "run")]) == 0
    run = load_summary(tmp_path / "run")
    assert "card" not in RunTable((run,), None).summary()
    vars(run.heartbeat.statistics).update(card_nodes=10**9, card_lanes=1024, card_turns=3, card_capacity=4)
    assert "M nodes/s by 1,024 lanes, 75% of them at work" in RunTable((run,), None).summary()


@pytest.mark.parametrize("name", ["NVIDIA H100", b"NVIDIA H100"])
def test_the_name_and_lanes_of_a_card(monkeypatch: pytest.MonkeyPatch, name: str | bytes) -> None:
    device = SimpleNamespace(MULTIPROCESSOR_COUNT=132, name=name)
    numba = SimpleNamespace(gpus=[device], search_kernel=None, gather_kernel=None)
    monkeypatch.setattr(cards, "import_module", lambda module: numba)
    assert (CudaCard().name, CudaCard().lanes) == ("NVIDIA H100", 135_168)


NO_CARD = "no graphics card that CUDA can use; expected one, and the extra 'gpu'"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("solve like-e2-8x8 --engine tabu --device 0", "--device is for engine gpu, not tabu"),
        ("solve like-e2-8x8 --engine gpu", NO_CARD),
        ("solve like-e2-8x8 --device 0", NO_CARD),
        ("benchmark --device 0", NO_CARD),
    ],
)
def test_without_a_card_the_commands_say_so(command: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 2
    assert capsys.readouterr().err.startswith(f"lns: {sentence}")


def test_a_puzzle_that_is_too_large_for_the_words_of_a_lane_is_refused() -> None:
    puzzle, _ = planted(1, 24, 24, 5)
    with pytest.raises(InputError, match="576 cells and 5 colours; a graphics card takes at most 511 and 63"):
        search.check_size(puzzle)


@pytest.mark.slow
def test_the_kernel_has_few_registers_and_no_spills() -> None:
    pytest.importorskip("numba_cuda", reason="the extra 'gpu' compiles without a card")
    command = [sys.executable, "-W", "ignore", "-m", "lns.tuning.gpu_check", "--compile"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout.splitlines()[-1])["kernel"]
    assert [row["target"] for row in rows] == ["sm_80", "sm_90"]
    assert all(row["registers"] <= 64 and row["stack and spills"] == 0 for row in rows)
