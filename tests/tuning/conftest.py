import shutil

import pytest

from lns.tuning import session as sessions
from lns.tuning.study import StudyRequest, open_study
from lns.worker_pool import InProcessExecutor
from tests.tuning.made_up import MadeUp, searched


@pytest.fixture
def made_up(monkeypatch):
    """Runs are made up."""
    monkeypatch.setattr(sessions, "TrialRun", MadeUp)


@pytest.fixture
def inline(made_up, monkeypatch):
    """And a session makes them in this process."""
    monkeypatch.setattr(sessions, "WorkerPool", lambda workers: InProcessExecutor())


@pytest.fixture(scope="session")
def _thirty(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(sessions, "TrialRun", MadeUp)
        return searched(tmp_path_factory.mktemp("study") / "s", 30).path


@pytest.fixture
def thirty(_thirty, made_up, tmp_path):
    """A study with thirty trials, of which none is validated."""
    return open_study(shutil.copytree(_thirty, tmp_path / "s"), StudyRequest())
