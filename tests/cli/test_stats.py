"""`--stats`: what each part of a run took and brought."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lns.cli.main import main
from lns.engine import Statistics
from lns.node_equivalents import REGION_NODE
from lns.params import to_toml
from lns.runs.history import PartGains, RunHistory, parts
from tests.cli.run_program import ONE_WORKER
from tests.lns.run_parts import QUICK


def test_parts_join_work_and_gain() -> None:
    history = RunHistory(1.0, gains_by_part={"construct": PartGains(3, 2, 5), "start": PartGains(1, 1, 0)})
    construct, windows, start = parts(history, Statistics(nodes=750, operators={"windows": round(250 / REGION_NODE)}))
    assert (construct.name, construct.share, construct.boards, construct.bests) == ("construct", 0.75, 3, 2)
    assert construct.edges_per_1e9 == pytest.approx(5 / 750 * 1e9) and construct.boards_per_1e9 == pytest.approx(4e6)
    assert (windows.name, windows.share, windows.boards, windows.edges_per_1e9) == ("windows", 0.25, 0, 0.0)
    assert (start.name, start.share, start.edges_per_1e9) == ("start", 0.0, None)


@pytest.mark.slow
def test_the_sums_are_those_of_the_run_and_resume_adds_to_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    params, run = tmp_path / "quick.toml", tmp_path / "run"
    params.write_text(to_toml(QUICK))
    common = ["--steps", "4", "--quiet", "--stats", "--json"]
    main(
        [
            "solve",
            "like-e2-8x8",
            "--seed",
            "1",
            "--target",
            "112",
            "--params",
            str(params),
            "--workers",
            "2",
            "--run-dir",
            str(run),
            *common,
        ]
    )
    first = json.loads(capsys.readouterr().out)
    main(["resume", str(run), *common])
    second = json.loads(capsys.readouterr().out)
    for told in (first, second):
        stats = told["stats"]
        assert sum(part["work"] for part in stats["parts"]) == stats["work"] > 0
        assert sum(part["share"] for part in stats["parts"]) == pytest.approx(1.0, abs=1e-3)
        assert sum(island["work"] for island in stats["islands"]) == pytest.approx(stats["work"], rel=1e-3)
        assert max(island["score"] for island in stats["islands"]) == told["score"]
        assert sum(part["bests"] for part in stats["parts"]) >= 1
    assert [island["steps"] for island in second["stats"]["islands"]] == [8, 8]
    assert second["stats"]["work"] > first["stats"]["work"]


def test_without_json_there_is_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    params, run = tmp_path / "quick.toml", tmp_path / "run"
    params.write_text(to_toml(QUICK))
    main(["solve", "like-e2-6x6", "--params", str(params), "--engine", "tabu", "--steps", "2", "--quiet", "--stats",
          *ONE_WORKER, "--run-dir", str(run)])  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("part"))
    assert "~M nodes" in lines[head] and lines[head + 1].startswith("tabu") and "100.0%" in lines[head + 1]
    (islands,) = (line for line in lines if line.startswith("islands"))
    assert islands.endswith("at best") and lines[-1].startswith("go on")
    assert main(["resume", str(run), "--steps", "1", "--quiet"]) == 0
    assert "islands" not in capsys.readouterr().out
