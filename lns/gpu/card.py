"""A graphics card that runs the lanes by numba's CUDA target or its simulator, and a stand-in on the processor."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from lns.gpu.lanes import CUT, LANES, SCALARS, Int32Array, LanePlan, LaneState, search_lane
from lns.instances.errors import InputError

BLOCK = 128  # lanes in a CUDA block; shared memory holds which pieces they have used
LANES_OF_A_MULTIPROCESSOR = 1024
SIMULATED_LANES = 8
MISSING = "no graphics card that CUDA can use; expected one, and the extra 'gpu' (pip install numba-cuda[cu13])"


class Twin:
    """Stand-in for a graphics card that runs the lanes on one core of the processor, for tests and comparisons."""

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

    def prefixes(self, lanes: npt.NDArray[np.intp]) -> Int32Array:
        return self.state.stack.reshape(self.plan.sizes[CUT], -1).T[lanes]


class CudaCard:
    """The first graphics card that CUDA lists, or numba's simulator if ``NUMBA_ENABLE_CUDASIM=1``.

    ``lanes`` is the number of lanes, by default enough to keep the card busy, and ``block`` the most in a CUDA block.
    Raises InputError if numba finds no card or no CUDA.
    """

    def __init__(self, lanes: int | None = None, block: int = BLOCK) -> None:
        self._cuda: Any = import_module("numba.cuda")
        multiprocessors, self.name = 0, "CUDA simulator"
        if os.environ.get("NUMBA_ENABLE_CUDASIM") != "1":
            try:
                device = self._cuda.gpus[0]  # makes no CUDA context, which only a worker that searches needs
                multiprocessors, name = device.MULTIPROCESSOR_COUNT, device.name
            except Exception as error:
                told = f"{type(error).__name__}: {error}".splitlines()[0]
                raise InputError(f"{MISSING} ({told})") from None
            self.name = name.decode() if isinstance(name, bytes) else name  # older versions of numba give bytes
            warnings.filterwarnings("ignore", "Grid size")  # small grids are normal: in `prefixes` few lanes wait
        self.lanes = lanes or max(SIMULATED_LANES, LANES_OF_A_MULTIPROCESSOR * multiprocessors)
        self._block = min(block, self.lanes)
        kernels: Any = import_module("lns.gpu.kernels")
        self._search, self._gather = kernels.search_kernel, kernels.gather_kernel

    def load(self, plan: LanePlan, state: LaneState) -> None:
        """Copy the tables and the state of the lanes to the card, in place of those for an earlier search tree."""
        self._cut, self._count = int(plan.sizes[CUT]), int(plan.sizes[LANES])
        self._plan = self._state = []  # first free the arrays for the tree before
        self._plan = [self._cuda.to_device(array) for array in plan]
        self._state = [self._cuda.to_device(array) for array in state]

    def fill(self, queue: Int32Array, changed: list[int], scalars: Int32Array) -> None:
        """Copy the slots ``changed`` of the queue, int32 (slots, first depth, lanes), and all scalars to the card."""
        for slot in changed:
            size = queue[slot].size
            self._state[1][slot * size : (slot + 1) * size].copy_to_device(queue[slot].ravel())
        self._state[0].copy_to_device(np.ascontiguousarray(scalars).ravel())

    def launch(self) -> None:
        """Start the search in all lanes, each for a limited number of loop passes; return without waiting for it."""
        blocks = -(-self._count // self._block)
        shared = 4 * len(self._state[-1]) // self._count * self._block  # bytes of shared memory for a block of lanes
        self._search[blocks, self._block, 0, shared](*self._plan, *self._state)

    def wait(self) -> Int32Array:
        """Wait for the end of the launch and return the scalars of all lanes, int32 (SCALARS, lanes)."""
        scalars: Int32Array = self._state[0].copy_to_host().reshape(SCALARS, -1)
        return scalars

    def prefixes(self, lanes: npt.NDArray[np.intp]) -> Int32Array:
        """Return the prefixes of some lanes as their stacks (see `LaneState`), int32 (lanes, cut)."""
        if not len(lanes):
            return np.zeros((0, self._cut), dtype=np.int32)
        out = self._cuda.device_array(len(lanes) * self._cut, dtype=np.int32)
        chosen = np.ascontiguousarray(lanes, dtype=np.int32)
        blocks = -(-len(lanes) // self._block)
        self._gather[blocks, self._block](self._cuda.to_device(chosen), self._plan[0], self._state[2], out)
        stacks: Int32Array = out.copy_to_host().reshape(len(lanes), self._cut)
        return stacks


Card = CudaCard | Twin
