"""What several tests of the command line need."""

from __future__ import annotations

from pathlib import Path

import pytest

QUICK = """
[construct]
tail = 8
tail_nodes = 2000
[tabu]
steps = 50
patience = 400
[engine]
step_nodes = 20000
"""


@pytest.fixture
def params(tmp_path: Path) -> str:
    """A file of parameters with which a step takes a moment."""
    path = tmp_path / "quick.toml"
    path.write_text(QUICK)
    return str(path)
