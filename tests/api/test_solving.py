"""`lns.solve` and `lns.resume`: results, limits, callbacks, interruption, refusals."""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import lns
from lns.api.result import Result
from lns.api.solving import resumed_workers
from lns.cli.main import main
from lns.cores import available_cores, max_workers
from lns.params import to_toml
from lns.runs.history import Improvement, RunHistory, SessionRecord
from lns.runs.run_summary import load_summary
from tests.cli.run_program import ended
from tests.lns.loop_parts import of_rules
from tests.lns.run_parts import QUICK, log_of


def quick(puzzle: Any = "like-e2-6x6", **options: Any) -> Result:
    """A search of some steps without progress, unless the options say otherwise."""
    return lns.solve(puzzle, **({"params": QUICK, "progress": None, "steps": 4, "seed": 3, "workers": 1} | options))


@pytest.mark.usefixtures("worker_processes")
def test_a_result_holds_the_best_board_and_how_it_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    puzzle = lns.load_puzzle("like-e2-6x6")
    found: list[lns.FoundBoard] = []
    threads: list[threading.Thread] = []

    def on_improve(board: lns.FoundBoard) -> None:
        found.append(board)
        threads.append(threading.current_thread())

    result = quick(puzzle, on_improve=on_improve)
    assert result.board is not None and lns.verify(puzzle, result.board).score == result.score > 30
    assert [board.score for board in found] == [step.score for step in result.improvements]
    assert found[-1].board == result.board and found[-1].board.puzzle is puzzle
    assert set(threads) == {threading.current_thread()}
    assert result.why == "steps made" and result.max_score == puzzle.max_score == 60 and result.run_dir is None
    assert result.islands[0].steps == 4 and result.statistics.boards > 0 and result.elapsed_s > 0
    assert result.record["placements"] == result.board.pairs() and result.url == lns.viewer_url(puzzle, result.board)
    assert f"{result.score} of 60" in result.summary() and "steps made" in result.summary()
    assert len(repr(result).splitlines()) == 1 and "<svg" in result._repr_html_()
    assert list(tmp_path.iterdir()) == [], "without a run directory nothing is written"
    result.history.improvements.append(Improvement(60, 9.0, "", "certificate"))
    assert "60 after 9.0 s (certificate: a better refill of a window that was to be proven)" in result.summary()
    result.save(tmp_path / "best.json")
    assert lns.load_board(tmp_path / "best.json", puzzle) == result.board


def test_the_same_seed_makes_the_same_search_and_a_resume_changes_nothing(tmp_path: Path) -> None:
    whole = quick("like-e2-8x8", engine="tabu", steps=10, run_dir=tmp_path / "whole")
    again = quick("like-e2-8x8", engine="tabu", stop=lns.MaxSteps(10) | lns.MaxTime(600), steps=None)
    first = quick("like-e2-8x8", engine="tabu", run_dir=tmp_path / "run", time=600)
    assert first.islands[0].steps == 4
    parts = lns.resume(tmp_path / "run", steps=6, progress=None)
    assert whole.board == again.board == parts.board and log_of(tmp_path / "whole") == log_of(tmp_path / "run")
    assert whole.statistics == again.statistics == parts.statistics
    (tmp_path / "quick.toml").write_text(to_toml(QUICK))
    words = f"--steps 10 --seed 3 --workers 1 --params {tmp_path}/quick.toml --run-dir {tmp_path}/typed --quiet"
    assert main(["solve", "like-e2-8x8", "--engine", "tabu", *words.split()]) == 0
    assert lns.load_board(tmp_path / "typed") == whole.board, "the command makes the same search"
    assert parts.islands[0].steps == 10 and len(parts.history.sessions) == 2


@pytest.mark.parametrize("text", ["mates uniform:8x8:5", "mates rim:7x7:5"])
def test_runs_with_mates_or_a_rim_go_on_and_are_merged_and_polished(text: str, tmp_path: Path) -> None:
    puzzle, _ = of_rules(text, 2)
    runs = [tmp_path / "one", tmp_path / "two"]
    first = [quick(puzzle, run_dir=run, seed=seed, steps=3, time=600) for seed, run in enumerate(runs)]
    more = lns.resume(runs[0], steps=3, progress=None)
    assert more.board == quick(puzzle, seed=0, steps=6, time=600).board
    merged = lns.merge(runs, tmp_path / "merged")
    assert merged.score == max(more.score, first[1].score) and merged.damaged == 0
    merged_best = load_summary(tmp_path / "merged").best
    assert merged_best is not None
    polished = lns.polish(puzzle, merged_best.board, steps=5, workers=1, progress=None)
    assert polished.board is not None and lns.verify(puzzle, polished.board).score == polished.score >= merged.score


INTERRUPTED = """
import os, signal, threading, lns

def search(**more):
    sent = []

    def interrupt(found):
        if not sent:
            sent.append(threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)))
            sent[0].start()

    return lns.solve("like-e2-16x16", time=600, workers=1, on_improve=interrupt, progress=None, **more)

if __name__ == "__main__":
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    result = search(run_dir="run")
    assert result.why == "interrupted" and result.board is not None, result.why
    assert not [thread for thread in threading.enumerate() if thread.name == "lns-search"]
    assert handlers == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        print("returned", search(raise_interrupt=True, engine="tabu", run_dir="raised").why)
    except KeyboardInterrupt:
        print("raised")
"""


def test_ctrl_c_ends_the_search_in_order_with_what_it_has(tmp_path: Path) -> None:
    """In a process of its own, which the signal may end."""
    (tmp_path / "search.py").write_text(INTERRUPTED)
    done = ended("search.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "raised\n"), done.stderr
    for run in ("run", "raised"):
        summary = load_summary(tmp_path / run)
        assert summary.why == "interrupted" and summary.best is not None


def test_an_error_of_a_callback_ends_the_search_and_comes_out_after_everything_is_saved(tmp_path: Path) -> None:
    fails = mock.Mock(side_effect=ZeroDivisionError("of the user"))
    with pytest.raises(ZeroDivisionError, match="of the user"):
        quick(steps=None, time=600, on_improve=fails, run_dir=tmp_path / "run")
    assert json.loads((tmp_path / "run" / "best.json").read_text())["score"] > 0


@pytest.mark.slow
def test_solve_works_in_a_thread_and_with_an_executor_of_the_user() -> None:
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(quick()))
    thread.start()
    thread.join(300)
    with ThreadPoolExecutor(1) as executor:
        results.append(quick(executor=executor))
    assert results[0].board == results[1].board == quick().board


@pytest.mark.slow
def test_a_script_without_the_guard_is_told_so(tmp_path: Path) -> None:
    script, call = tmp_path / "script.py", "lns.solve('like-e2-4x4', time=5, progress=None)"
    script.write_text(f"import lns\n{call}\n")
    told = ended(str(script))
    assert told.returncode != 0 and "if __name__ == '__main__':" in told.stderr.splitlines()[-1]
    assert told.stderr.count("Traceback") == 1, "that of the script, none of its workers"
    script.write_text(f"import lns\nif __name__ == '__main__':\n    print({call}.score)\n")
    guarded = ended(str(script))
    assert guarded.returncode == 0 and 18 <= int(guarded.stdout) <= 24


def test_a_notebook_gets_a_bar_of_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = mock.Mock(total=None)
    monkeypatch.setattr("tqdm.auto.tqdm", lambda **_: bar)
    monkeypatch.setitem(sys.modules, "IPython", mock.Mock())
    quick(progress="auto")
    assert bar.close.called and "of 60" in bar.set_description_str.call_args.args[0]


def test_more_workers_of_the_last_session_than_a_machine_has_are_not_started() -> None:
    history = RunHistory(1.0)
    for last, now in ((10**6, available_cores()), (max_workers(), max_workers())):
        history.begin(SessionRecord("", "", "", "", workers=last))
        assert resumed_workers(None, history) == now


def test_without_a_terminal_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    quick(progress="auto")
    assert capfd.readouterr() == ("", "")


def test_the_plot_is_the_score_over_time() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = quick()
    axes = result.plot()
    assert list(axes.lines[0].get_ydata())[-1] == result.score and "60" in axes.get_ylabel()
    assert result.plot(axes) is axes
