"""How many processors there are, and how many worker processes are accepted."""

from __future__ import annotations

import os
from pathlib import Path


def available_cores() -> int:
    """Processors that this process may use: those of the machine, of its affinity mask, or of its container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:  # "200000 100000": microseconds of processor time in each period
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max"
        return cores


def max_workers() -> int:
    """Most worker processes that are accepted: four for each processor, and 32 at least."""
    return max(32, 4 * (os.cpu_count() or 1))
