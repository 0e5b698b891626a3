"""Random state: the kernel and its plain twin."""

from __future__ import annotations

import numpy as np

from lns.rng import generator, next_u64, random_state


def test_the_plain_draw_is_the_kernels() -> None:
    plain, jitted = random_state(5, 1), random_state(5, 1)
    for _ in range(1000):
        expected = np.random.Generator(np.random.PCG64(int(next_u64(jitted)))).integers(2**62)
        assert generator(plain).integers(2**62) == expected
        assert np.array_equal(plain, jitted)
    assert not np.array_equal(plain, random_state(5, 2))
