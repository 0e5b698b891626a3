"""Types and checks of options that several commands share."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from lns.terminal.options import check_folder, duration, whole_number
from lns_support.cores import available_cores
from lns_support.errors import InputError


def test_an_output_file_is_refused_where_none_can_be_created(tmp_path: Path) -> None:
    check_folder(None)
    check_folder(tmp_path / "new.json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="there is no such directory"):
        check_folder(tmp_path / "none" / "new.json")
    if not Path("/proc/self").is_dir():
        pytest.skip("no directory that not even root can write to")
    with pytest.raises(InputError, match="/proc/self: no file can be made in this directory: "):
        check_folder("/proc/self/new.json")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5", 1.5), (".5", 0.5), ("10m", 600), ("5m30s", 330), ("1h30m", 5400), ("7d", 604800),
     ("1w", 604800), ("1w2d3h4m5s", 788645), ("1.5h", 5400)],
)  # fmt: skip
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "5x", "30s5m", "5m5m", "-1", "1 h", "m", "1e3", "2000w"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(
        argparse.ArgumentTypeError, match="is no duration; expected seconds above 0, or like 10m, 5m30s"
    ):
        duration(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("2e8", 200_000_000), ("1.5e9", 1_500_000_000), ("1.25e2", 125), ("9" * 18, 10**18 - 1)],
)
def test_whole_numbers(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "-1", "1.5", "1.0", "1.25e1", "1e-3", "e3", "1e", "1e18", "9e99", "1" * 19, "1_000", "x", "٣", "nan"]
)
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(
        argparse.ArgumentTypeError, match="is no whole number of at most 18 digits; expected 0 or more, or like 2e8"
    ):
        whole_number(text)


def test_cores_are_those_of_the_affinity_mask() -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system has no affinity masks")
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert available_cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert 1 <= available_cores() <= len(before)
