"""The digest of the engine: sources that decide a run change it, others do not."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tuning.sources import _COMPARATORS, engine_digest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_what_decides_a_run_changes_the_digest_and_nothing_else_does(tmp_path):
    names = ("instances/puzzle.py", "instances/draw/page.py", "lns_support/jit.py", "exact/cover/kernel.py",
             "lns/node_equivalents.py",
             "lns/cli/tune.py", "lns/runs/page.py", "tuning/objective.py", "tuning/report.py")  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("PRICE = 2.0\n")
    before = {engine_digest(tmp_path)}
    for name in names:
        (tmp_path / name).write_text("PRICE = 5.0\n")
        engine_digest.cache_clear()
        now = engine_digest(tmp_path)
        decides = not name.startswith(("instances/draw", "exact/cover", "lns/cli", "lns/runs", "tuning/report"))
        assert (now not in before) == decides, name
        before.add(now)


def test_the_optimizer_may_not_import_what_the_digest_leaves_out():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [contract] = [one for one in contracts if one["name"].startswith("the optimizer knows neither")]
    assert {f"exact.{name}" for name in _COMPARATORS} == {
        name for name in contract["forbidden_modules"] if name.startswith("exact.")
    }
    assert all((ROOT / "exact" / name).is_dir() for name in _COMPARATORS)
