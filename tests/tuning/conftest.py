from __future__ import annotations

import pytest

from lns.tuning import worker as workers
from tests.tuning.made_up import MadeUp


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(workers, "TrialRun", MadeUp)
