from __future__ import annotations

import pytest

from tests.tuning.made_up import MadeUp
from tuning import study as studies
from tuning import worker as workers


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(workers, "Run", MadeUp)
    monkeypatch.setattr(studies.profiles, "load_all", dict)  # what is shipped is no part of these runs
