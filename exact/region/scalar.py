"""Indices in `lns.exact.region.state.RegionState.scalars`."""

from __future__ import annotations

DEPTH, NODES, BEST, ALLOWED, SPARE, FINISHED, BALANCE, RUNNING, LOOKAHEAD, PRICED, UNITS = range(11)
TASKS = 11  # tasks made
PENDING = 12  # height of the stack of pending tasks
COUNT = 13
