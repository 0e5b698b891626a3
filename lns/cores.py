"""Number of available processors, and largest accepted number of worker processes."""

from __future__ import annotations

import os
from pathlib import Path


def available_cores() -> int:
    """Return the number of processors for this process, as limited by its affinity mask and its container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:  # such as "200000 100000": microseconds of processor time per period, and period
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or no limit ("max")
        return cores


def max_workers() -> int:
    """Return the largest accepted number of worker processes: four for each processor, but at least 32."""
    return max(32, 4 * (os.cpu_count() or 1))
