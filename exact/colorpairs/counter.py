"""Indices in `lns.exact.colorpairs.state.State.counters`."""

from __future__ import annotations

DEPTH, NODES, SOLUTIONS, EXHAUSTED, FRAME_OPEN, THREE_SIDED, PREEMPTED = range(7)
CONTRADICTIONS, PREEMPTIONS, LEVELS_JUMPED, SHAVING_TESTS, DEEPEST = range(7, 12)
COUNT = 12
