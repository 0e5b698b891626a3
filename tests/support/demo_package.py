"""A small package of kernels, and processes that import it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KERNEL = '''
"""Kernels."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lns.exact.demo import places
from lns.exact.demo.callee import twice
from lns.exact.demo.constants import FACTOR
from lns.exact.kernels.jit import kernel

if TYPE_CHECKING:
    from lns.exact.demo.pair import Pair


@kernel
def answer(pair: Pair) -> int:
    """Docstring."""
    return FACTOR * twice(pair.first) + places.HERE + pair.second


def report() -> None:
    from lns.exact.demo.pair import Pair

    print(answer(Pair(10, 1)))
'''
CALLEE = """
from lns.exact.kernels.jit import inline_kernel

@inline_kernel
def twice(number):
    return 2 * number
"""
CONSTANTS = """
from lns.exact.demo.places import base

FACTOR = base(1)
UNUSED = 1
"""
PLACES = """
HERE = 5

def base(number):
    return number

def plain():
    return 1
"""
PAIR = '''
from typing import NamedTuple

class Pair(NamedTuple):
    """Docstring."""
    first: int
    second: int
'''
FILES = {"kernel": KERNEL, "callee": CALLEE, "constants": CONSTANTS, "places": PLACES, "pair": PAIR, "__init__": ""}


def process(demo: Path, program: str) -> subprocess.Popen[str]:
    """A new process that imports this package; all such processes share one cache."""
    root = demo.parents[2]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(root / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("NUMBA_DISABLE_JIT", "PYTHONPATH"):
        environment.pop(name, None)
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, env=environment, stdout=subprocess.PIPE, text=True
    )


def output(running: subprocess.Popen[str]) -> list[str]:
    """The words that a process prints until it ends."""
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 0
    return out.split()


def answer(demo: Path, before: str = "") -> tuple[int, str]:
    """The result and the source key of a kernel in a new process, which runs the program text ``before`` first."""
    program = (
        "from lns.exact.kernels.sources import source_key; from lns.exact.demo import kernel as k; "
        "k.report(); print(source_key(k.__name__))"
    )
    number, key = output(process(demo, before + program))
    return int(number), key
