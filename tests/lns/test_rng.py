"""Random state: the kernel and its plain twin against the reference."""

import numpy as np
import pytest

from lns.rng import _draw, generator, next_u64, random_state

# the first numbers of Blackman and Vigna's xoshiro256** from the state (1, 2, 3, 4)
REFERENCE = [11520, 0, 1509978240, 1215971899390074240, 1216172134540287360]


@pytest.mark.parametrize("draw", [next_u64, _draw])
def test_kernel_and_python_generators_both_are_xoshiro256_star_star(draw) -> None:  # type: ignore[no-untyped-def]
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    assert [int(draw(state)) for _ in REFERENCE] == REFERENCE


def test_the_plain_draw_is_the_kernels() -> None:
    plain, jitted = random_state(5, 1), random_state(5, 1)
    for _ in range(1000):
        expected = np.random.Generator(np.random.PCG64(int(next_u64(jitted)))).integers(2**62)
        assert generator(plain).integers(2**62) == expected
        assert np.array_equal(plain, jitted)
    assert not np.array_equal(plain, random_state(5, 2))
