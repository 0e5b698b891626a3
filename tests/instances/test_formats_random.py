"""Random puzzles and boards in random dialects; ``python -m tests.fuzz_formats`` tries thousands of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lns.instances.errors import InputError
from lns.instances.formats import read
from tests.fuzz_formats import guess, round_trip, vanished

SEEDS = st.integers(0, 2**32)
QUICK = settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@QUICK
@given(SEEDS)
def test_round_trips(seed: int) -> None:
    assert round_trip(seed) > 5


@QUICK
@given(SEEDS)
def test_no_dialect_is_misread_in_silence(seed: int) -> None:
    assert not guess(seed).startswith("wrong")


@QUICK
@given(SEEDS)
def test_no_line_vanishes(seed: int) -> None:
    assert not vanished(seed)


def test_huge_files_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(2**30)
    for source in (str(path), "/dev/zero", "/dev/null"):
        if Path(source).exists():
            with pytest.raises(InputError):
                read(source)
