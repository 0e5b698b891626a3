"""No test sees what a study of the user has proved: `lns solve` takes such parameters from the user's configuration."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_FOLDER = TemporaryDirectory(prefix="lns-tests-config-")
os.environ["XDG_CONFIG_HOME"] = _FOLDER.name  # also for fixtures of modules, and for processes
_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def config_home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's configuration in this test: a directory of its own, which is made by the first file in it."""
    path = Path(_FOLDER.name, str(next(_NUMBERS)))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(path))
    return path
