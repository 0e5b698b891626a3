"""The digest of the engine: sources that decide a run change it, others do not."""

from __future__ import annotations

from tuning.sources import engine_digest


def test_what_decides_a_run_changes_the_digest_and_nothing_else_does(tmp_path):
    names = ("instances/puzzle.py", "instances/draw/page.py", "exact/jit.py", "lns/costs.py", "lns/cli/tune.py",
             "lns/runs/page.py", "tuning/objective.py", "tuning/report.py")  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("PRICE = 2.0\n")
    before = {engine_digest(tmp_path)}
    for name in names:
        (tmp_path / name).write_text("PRICE = 5.0\n")
        engine_digest.cache_clear()
        now = engine_digest(tmp_path)
        decides = not name.startswith(("instances/draw", "lns/cli", "lns/runs", "tuning/report"))
        assert (now not in before) == decides, name
        before.add(now)
