"""Number of available processors, and largest accepted number of worker processes."""

from __future__ import annotations

import os
from pathlib import Path


def available_cores() -> int:
    """Return how many processors this process may use, given its affinity mask and its container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:  # the file holds, in microseconds, the processor time per period and the period, such as "200000 100000"
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # the file is missing, or it holds "max": no limit
        return cores


def max_workers() -> int:
    """Return the largest accepted number of worker processes: four for each processor, but at least 32."""
    return max(32, 4 * (os.cpu_count() or 1))
