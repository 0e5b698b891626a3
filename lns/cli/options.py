"""Types of options: what they accept is said in the sentence that refuses the rest."""

from __future__ import annotations

import argparse
import math
import os
import re

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def duration(text: str) -> float:
    """Seconds: '90', '1.5', '10m', '2h', '7d'."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([smhd]?)", text)
    seconds = float(match[1]) * _UNITS[match[2]] if match else math.nan
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is no duration; expected seconds above 0, or like 10m, 2h, 7d")
    return seconds


def whole(text: str) -> int:
    """A whole number from 0."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number; expected 0 or more")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    number = whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError("0 is too few; expected 1 or more")
    return number


def workers(text: str) -> int:
    """A number of processes that this machine can bear."""
    number, most = positive(text), most_workers()
    if number > most:
        raise argparse.ArgumentTypeError(
            f"{number} workers are too many for {os.cpu_count()} processors; expected at most {most}"
        )
    return number


def most_workers() -> int:
    return max(32, 4 * (os.cpu_count() or 1))
