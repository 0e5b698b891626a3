"""A graphics card that runs the lanes, through numba's CUDA target or its simulator, and a twin on the processor."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

import numpy as np

from lns.gpu.lanes import AT_CUT, CUT, LANES, SCALARS, Int32Array, LanePlan, LaneState, search_lane
from lns.instances.errors import InputError

BLOCK = 128  # lanes of a block of threads, whose used pieces are in shared memory
LANES_OF_A_MULTIPROCESSOR = 1024
SIMULATED_LANES = 8
MISSING = "no graphics card that CUDA can use; expected one, and the extra 'gpu' (pip install numba-cuda[cu13])"


class Twin:
    """Stand-in for a card that runs the lanes on one core of the processor, for tests and comparisons."""

    name = "processor"

    def __init__(self, lanes: int = SIMULATED_LANES) -> None:
        self.lanes = lanes

    def load(self, plan: LanePlan, state: LaneState) -> None:
        self.plan, self.state = plan, state

    def fill(self, queue: Int32Array, changed: list[int], scalars: Int32Array) -> None:
        self.state.queue.reshape(queue.shape)[changed] = queue[changed]
        self.state.scalars[:] = scalars.ravel()

    def launch(self) -> None:
        for lane in range(self.plan.sizes[LANES]):
            search_lane(lane, *self.plan, *self.state, int(self.plan.sizes[LANES]), lane)  # type: ignore[arg-type]

    def wait(self) -> Int32Array:
        return self.state.scalars.reshape(SCALARS, -1).copy()

    def prefixes(self, lanes: Int32Array) -> Int32Array:
        return self.state.stack.reshape(self.plan.sizes[CUT], -1).T[lanes]


class CudaCard:
    """The first card that CUDA lists, or numba's simulator if ``NUMBA_ENABLE_CUDASIM=1``.

    ``lanes``: by default enough to keep the card busy. Raises InputError if numba finds no card or no CUDA.
    """

    def __init__(self, lanes: int | None = None, block: int = BLOCK) -> None:
        self._cuda: Any = import_module("numba.cuda")
        multiprocessors, self.name = 0, "CUDA simulator"
        if os.environ.get("NUMBA_ENABLE_CUDASIM") != "1":
            try:
                device = self._cuda.gpus[0]  # creates no CUDA context: only the searching worker needs one
                multiprocessors, name = device.MULTIPROCESSOR_COUNT, device.name
            except Exception as error:
                told = f"{type(error).__name__}: {error}".splitlines()[0]
                raise InputError(f"{MISSING} ({told})") from None
            self.name = name.decode() if isinstance(name, bytes) else name  # bytes in older versions of numba
            warnings.filterwarnings("ignore", "Grid size")  # small grids are normal: few lanes wait at the cut
        self.lanes = lanes or max(SIMULATED_LANES, LANES_OF_A_MULTIPROCESSOR * multiprocessors)
        self._block = min(block, self.lanes)
        kernels: Any = import_module("lns.gpu.kernels")
        self._search, self._gather = kernels.search_kernel, kernels.gather_kernel

    def load(self, plan: LanePlan, state: LaneState) -> None:
        """Copy the tables and the state of the lanes to the card, in place of those of an earlier tree."""
        self._cut, self._count = int(plan.sizes[CUT]), int(plan.sizes[LANES])
        self._plan = self._state = []  # frees the arrays of the last tree first
        self._plan = [self._cuda.to_device(array) for array in plan]
        self._state = [self._cuda.to_device(array) for array in state]

    def fill(self, queue: Int32Array, changed: list[int], scalars: Int32Array) -> None:
        """Replace the prefixes in some slots of the queue, int32 (slots, first depth, lanes), and the scalars."""
        for slot in changed:
            size = queue[slot].size
            self._state[1][slot * size : (slot + 1) * size].copy_to_device(queue[slot].ravel())
        self._state[0].copy_to_device(np.ascontiguousarray(scalars).ravel())

    def launch(self) -> None:
        """Start the search in all lanes, for the number of turns in the plan; return at once."""
        blocks = -(-self._count // self._block)
        shared = 4 * len(self._state[-1]) // self._count * self._block  # bytes: the used pieces of a block's lanes
        self._search[blocks, self._block, 0, shared](*self._plan, *self._state)

    def wait(self) -> Int32Array:
        """Wait for the end of the launch and return the scalars of the lanes, int32 (SCALARS, lanes)."""
        scalars: Int32Array = self._state[0].copy_to_host().reshape(SCALARS, -1)
        return scalars

    def prefixes(self, lanes: Int32Array) -> Int32Array:
        """Return the stacks of some lanes, int32 (lanes, cut)."""
        if not len(lanes):
            return np.zeros((0, self._cut), dtype=np.int32)
        out = self._cuda.device_array(len(lanes) * self._cut, dtype=np.int32)
        chosen = np.ascontiguousarray(lanes, dtype=np.int32)
        blocks = -(-len(lanes) // self._block)
        self._gather[blocks, self._block](self._cuda.to_device(chosen), self._plan[0], self._state[2], out)
        stacks: Int32Array = out.copy_to_host().reshape(len(lanes), self._cut)
        return stacks


Card = CudaCard | Twin


def at_cut(scalars: Int32Array) -> Int32Array:
    """Return the numbers of the lanes that wait at the cut."""
    return np.flatnonzero(scalars[AT_CUT]).astype(np.int32)
