"""The digest of the engine: sources that decide a run change it, others do not."""

from __future__ import annotations

import subprocess
import sys

from lns.engines import decisive_sources, engine_digest
from tests.cli.run_program import ROOT


def test_what_a_run_imports_changes_the_digest_and_nothing_else_does(tmp_path):
    sources = {
        "lns/tuning/objective.py": "from lns.engines import make_engine\nfrom lns.exact.kernels import jit\n",
        "lns/engines.py": "def make_engine():\n    from lns.tabu.engine import TabuEngine\n",
        "lns/tabu/engine.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import lns.runs.page\n",
        "lns/__init__.py": "def __getattr__(name):\n    import lns.runs.page\n",
        "lns/exact/kernels/jit.py": "import numba\n",
        "lns/runs/page.py": "",
        "lns/tuning/report.py": "",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    before = {engine_digest("lns.tuning.objective", tmp_path)}
    for name in sources:
        (tmp_path / name).write_text(sources[name] + "PRICE = 5.0\n")
        engine_digest.cache_clear()
        now = engine_digest("lns.tuning.objective", tmp_path)
        assert (now not in before) == (name not in ("lns/runs/page.py", "lns/tuning/report.py")), name
        before.add(now)


def test_the_digest_covers_all_that_a_run_loads_and_no_command():
    program = (
        "import sys, lns.tuning.objective; print(*(getattr(m, '__file__', None) for m in [*sys.modules.values()]))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {path for path in done.stdout.split() if path.startswith(f"{ROOT}/") and "/.venv/" not in path}
    covered = {str(path) for path in decisive_sources("lns.tuning.objective")}
    assert loaded and loaded <= covered
    for room in ("lns/cli", "lns/terminal", "lns/runs", "lns/tuning/cli", "lns/instances/draw", "lns/exact/sat"):
        assert not [path for path in covered if path.startswith(f"{ROOT}/{room}")], room
