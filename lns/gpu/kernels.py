"""The kernels of a card, for numba's CUDA target. Only `lns.gpu.card` imports this module, once it has a device."""

from __future__ import annotations

from typing import Any

from numba import cuda as numba_cuda
from numba import uint32

from lns.gpu import lanes

cuda: Any = numba_cuda  # numba's simulator replaces the global ``cuda`` while a kernel runs
search_lane = cuda.jit(device=True)(getattr(lanes.search_lane, "py_func", lanes.search_lane))
LANES, CUT, WORDS = lanes.LANES, lanes.CUT, lanes.WORDS


def search(sizes, rows, list_start, candidates, scalars, queue, stack, shown, used) -> None:  # type: ignore[no-untyped-def]
    """Run `lanes.search_lane` in each thread, with the lane's used pieces in shared memory."""
    in_use = cuda.shared.array(0, uint32)
    lane, slot, block = cuda.grid(1), cuda.threadIdx.x, cuda.blockDim.x
    count = sizes[LANES]
    if lane < count:
        for word in range(sizes[WORDS]):
            in_use[word * block + slot] = used[word * count + lane]
        search_lane(
            lane, sizes, rows, list_start, candidates, scalars, queue, stack, shown, in_use, block, slot
        )  # fmt: skip
        for word in range(sizes[WORDS]):
            used[word * count + lane] = in_use[word * block + slot]


def gather(chosen, sizes, stack, out) -> None:  # type: ignore[no-untyped-def]
    """Copy the stacks of the chosen lanes to ``out``, one after the other."""
    number = cuda.grid(1)
    if number < len(chosen):
        for depth in range(sizes[CUT]):
            out[number * sizes[CUT] + depth] = stack[depth * sizes[LANES] + chosen[number]]


search_kernel, gather_kernel = cuda.jit(search), cuda.jit(gather)
