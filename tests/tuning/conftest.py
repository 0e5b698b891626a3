from __future__ import annotations

import pytest

from tests.tuning.made_up import MadeUp
from tuning import worker as workers


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(workers, "TrialRun", MadeUp)
