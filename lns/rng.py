"""Explicit random state for kernels: xoshiro256** on a caller-owned uint64[4] array.

Source: D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", 2021.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.exact.kernels.jit import inline_flat_kernel

RandomState = npt.NDArray[np.uint64]

_ALL = 2**64 - 1


STREAM = 2**20  # distance between the stream numbers of two operators of one island


def random_state(seed: int, *stream: int) -> RandomState:
    """Return the random state of (seed, stream), the same on every machine and independent of all other such states."""
    return np.random.SeedSequence(seed, spawn_key=stream).generate_state(4, np.uint64)


def generator(state: RandomState) -> np.random.Generator:
    """Return a numpy generator for work outside of kernels, seeded by one draw from ``state``, which advances."""
    return np.random.Generator(np.random.PCG64(_draw(state)))


def _draw(state: RandomState) -> int:
    """Return what `next_u64` returns, without numba: each process would have to compile that inlined kernel."""
    a, b, c, d = (int(part) for part in state)
    product = b * 5 & _ALL
    result = ((product << 7 | product >> 57) & _ALL) * 9 & _ALL
    c, d = c ^ a, d ^ b
    state[:] = a ^ d, b ^ c, c ^ (b << 17 & _ALL), (d << 45 | d >> 19) & _ALL
    return result


@inline_flat_kernel
def _rotl(x: np.uint64, k: np.uint64) -> np.uint64:
    return (x << k) | (x >> (np.uint64(64) - k))


@inline_flat_kernel
def next_u64(state: RandomState) -> np.uint64:
    """Return the next 64 random bits, and advance ``state``."""
    result = _rotl(state[1] * np.uint64(5), np.uint64(7)) * np.uint64(9)
    t = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= t
    state[3] = _rotl(state[3], np.uint64(45))
    return result


@inline_flat_kernel
def random_below(state: RandomState, n: int) -> int:
    """Return a random integer from 0 to n - 1, for n < 2**31 (bias below 2**-32)."""
    return np.int64(((next_u64(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
