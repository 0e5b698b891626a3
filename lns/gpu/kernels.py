"""Kernels for a graphics card, by numba's CUDA target. Imported only by `lns.gpu.card`, for a card or simulator."""

from __future__ import annotations

from typing import Any

from numba import cuda as numba_cuda
from numba import uint32

from lns.gpu import lanes

cuda: Any = numba_cuda  # a global of this name, because numba's simulator replaces it while a kernel runs
search_lane = cuda.jit(device=True)(getattr(lanes.search_lane, "py_func", lanes.search_lane))
LANES, CUT, WORDS = lanes.LANES, lanes.CUT, lanes.WORDS


def search(sizes, rows, list_start, candidates, scalars, queue, stack, shown, used) -> None:  # type: ignore[no-untyped-def]
    """Continue the search of one lane in each thread, while shared memory holds which pieces the lane has used."""
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
    """Copy the stacks of the chosen lanes to ``out``, stack after stack; each thread copies one."""
    number = cuda.grid(1)
    if number < len(chosen):
        for depth in range(sizes[CUT]):
            out[number * sizes[CUT] + depth] = stack[depth * sizes[LANES] + chosen[number]]


search_kernel, gather_kernel = cuda.jit(search), cuda.jit(gather)
