"""The kernels of the optimizer as plain Python: without compilation the same tests hold."""

import os
import subprocess
import sys

import pytest

from tests.cli.run_program import ROOT

FILES = ("test_construct.py", "test_endgame.py", "test_beam.py", "test_tabu.py")
TESTS = "exact_tail_is_optimal or small_boards_of_any_shape or by_lists or recount or saved_at_every_stop"


@pytest.mark.slow
def test_the_kernels_without_jit() -> None:
    """Construction, endgame, exact tail, beam and tabu search; numpy's integers warn where those of kernels wrap."""
    options = ["-q", "-p", "no:cacheprovider", "-k", TESTS, "-W", "ignore:overflow encountered:RuntimeWarning"]
    command = [sys.executable, "-m", "pytest", *options, *(f"tests/lns/{name}" for name in FILES)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout[-3000:]
    chosen = subprocess.run([*command, "--collect-only"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert [name for name in FILES if name not in chosen.stdout] == [], "no test of these was chosen"
