"""A study from end to end, with runs that are made up (`made_up`)."""

import html
import json
import shlex
import subprocess
import sys
from dataclasses import asdict, replace
from itertools import pairwise

import pytest
from optuna.trial import TrialState

from lns.cli.main import main
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import like_e2
from lns.params import Params, from_dict, load
from lns.runs.lock import Holder
from lns.tuning import report, validate
from lns.tuning import session as sessions
from lns.tuning import study as studies
from lns.tuning.objective import Trace
from lns.tuning.session import search_task
from lns.tuning.study import StudyRequest, first_seeds, open_study
from lns.worker_pool import WorkerLost
from tests.instances.small_puzzles import with_mates
from tests.tuning.made_up import REQUEST, MadeUp, add_default_runs, searched, validated

FRACTION = ("construct.column_major_fraction", 0.15, 0.4)


# -- search and verdict -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_better_parameters_are_found_validated_and_written(made_up, tmp_path):
    study = searched(tmp_path / "s", 30)
    assert "are not tested on held-out pairs yet" in report.verdict_text(study, validate.conclude(study))
    first = validated(study)
    study = searched(study.path, 80)
    study.requeue(study.next_trial(None))
    found = validated(study)
    winner = found.winner
    assert first.winner is not None and len(found.verdicts) > len(first.verdicts)
    assert {one.trial: one.p for one in first.verdicts}.items() <= {one.trial: one.p for one in found.verdicts}.items()
    assert winner is not None and winner.mean > 1 and winner.p < 0.01
    text = (study.path / "best_params.toml").read_text()
    assert text.startswith("# command: lns tune --family like-e2:6x6\n# study: like-e2:6x6")
    assert "p = " in text and ", 80 trials, " in text
    assert load(study.path / "best_params.toml") == study.params_of(study.trials()[winner.trial])
    assert report.rank_correlation(study) > 0.5
    assert next(iter(report.importance(study))) in ("construct.tail", "neighbourhoods.last")
    verdict = report.verdict_text(study, found)
    assert verdict.startswith(
        f"Use {study.path / 'best_params.toml'}: {winner.mean:+.2f} edges on 20 held-out pairs (95% "
    )
    assert "rank correlation" in dict(report.facts(study, found, 0.01))["short runs"]
    (study.path / "best_params.toml").write_text("x")
    assert f"Use the parameters of trial {winner.trial}, to be written by" in report.verdict_text(study, found)


@pytest.mark.slow
def test_the_file_says_how_the_study_began_and_a_report_only_reads(inline, monkeypatch, tmp_path, capsys):
    later = ["tune", "--study", str(tmp_path / "my study"), "--trials", "80", "--quiet"]
    begun = [*later, "--family", "like-e2:6x6", "--nodes", "4000", "--pairs", "6", "--held-out", "20", "--seed", "3"]
    best = tmp_path / "my study" / "best_params.toml"
    for typed in (begun, later):
        monkeypatch.setattr(sys, "argv", ["lns", *typed])
        assert main(typed) == 0
        assert best.read_text().splitlines()[0] == f"# command: lns {shlex.join(begun)}"
    assert shlex.join(begun) in html.unescape((tmp_path / "my study" / "report.html").read_text())
    before = best.read_text().replace("# evidence", "# much evidence")
    best.write_text(before)
    later = [*later[:3], "--quiet"]
    asked = [*later, "--report", "--json"]
    assert main(asked) == 0
    assert best.read_text() == before
    best.write_text(before.replace("patience = ", "patience = 1"))  # another candidate's, as an earlier session left it
    capsys.readouterr()
    assert main(asked) == 1
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["better"] and outcome["best_params"] is None
    assert main([*later, "--report"]) == 1
    assert "to be written by" in capsys.readouterr().out
    best.unlink()
    assert main(asked) == 1 and not best.exists()


def test_the_page_has_all_sections_and_no_external_resources(made_up, tmp_path):
    study = searched(tmp_path / "s", 30, replace(REQUEST, command="lns tune --study <x>"))
    page = report.html_page(study, validated(study), "now & here")
    for title in ("Importance", "Held-out pairs", "rank correlation", "Best trials", "Commands",
                  "lns tune --study &lt;x&gt;", "now &amp; here"):  # fmt: skip
        assert title in page
    assert all(page.count(f"<td>{pair.label}</td>") == 1 for pair in study.held_out)
    assert "<script" not in page and "nan" not in page
    assert "http" not in page.replace('xmlns="http://www.w3.org/2000/svg"', "").replace("http-equiv", "")


def test_a_session_searches_validates_and_completes_an_earlier_validation(inline, monkeypatch, tmp_path):
    study, shown = open_study(tmp_path / "s", REQUEST), []
    session = sessions.TuningSession(study, 1, None, 30, shown.append)
    with monkeypatch.context() as stopped:  # as it is chosen what to validate
        stopped.setattr(sessions, "validation_task", lambda *_: 0.0)
        session.run()
    (study.path / "best_params.toml").write_text("of an earlier session")
    found = validate.conclude(study)
    validate.write_best(study, found)
    assert (study.path / "best_params.toml").exists(), "what was found stays while runs are missing"
    verdict = report.verdict_text(study, found)
    assert verdict.startswith("No verdict yet, so keep the defaults: ") and "held-out pairs lacks" in verdict
    sessions.TuningSession(study, 1, None, 30, shown.append).run()
    assert {status.phase for status in shown} == {"search", "validation"}
    assert shown[-1].done == shown[-1].total == 20 * (1 + len(validate.candidates_of(study)))
    assert validate.conclude(study).winner is not None


def test_the_defaults_are_the_first_trial_and_the_first_ones_have_long_runs(made_up, tmp_path):
    study = searched(tmp_path / "s", 12)
    first = study.trials()[: sessions.CALIBRATION_TRIALS]
    assert study.params_of(first[0]) == Params()
    assert (first[0].value, first[0].user_attrs["short"]) == (0.0, 0.0)
    assert all({"short", "long"} <= trial.user_attrs.keys() for trial in first)
    seen = []
    for trial in first:
        seen.append(trial.user_attrs["short"])
        good = sum(one > seen[-1] for one in seen) < len(seen) / sessions.PROMOTED_ONE_IN
        assert trial.state == (TrialState.COMPLETE if good else TrialState.PRUNED), "only good ones are promoted"
        assert max(trial.intermediate_values) == (11 if good else 6)
        assert good or trial.intermediate_values[6] == trial.user_attrs["short"]
    assert TrialState.PRUNED in {trial.state for trial in first}


def test_a_study_can_begin_with_parameters_out_of_range(made_up, tmp_path):
    """Few nodes, below the range that is searched."""
    study = searched(tmp_path / "s", 8, replace(REQUEST, params=from_dict({"neighbourhoods": {"nodes": 100}})))
    assert not study.trials(TrialState.FAIL)
    assert study.trials()[0].params["neighbourhoods.nodes"] > 100
    assert "neighbourhoods.nodes" in report.html_page(study, validated(study), "now")


# -- without a board --------------------------------------------------------------------------------------------------


def test_short_runs_without_any_board_cause_one_warning(inline, tmp_path, caplog):
    sessions.TuningSession(open_study(tmp_path / "s", REQUEST), 1, None, 3, lambda status: None).run()
    assert "no board within" not in caplog.text, "all have one"
    study = open_study(tmp_path / "t", REQUEST)
    for pair in study.pairs[:2]:
        study.runs.add(study.key(study.base, pair), Trace(((50, 3999),), 4000, False, 1.0))
    sessions.TuningSession(study, 1, None, 3, lambda status: None).run()
    assert caplog.text.count("no board within the 1,000 nodes of a short run on 2 of 6 pairs, which are left out") == 1
    assert all(pair.label in caplog.text for pair in study.pairs[:2])
    trials = study.trials(TrialState.COMPLETE)
    assert trials and all(abs(trial.value) < 50 for trial in trials), "a whole board is no difference"
    left_out = dict(report.facts(study, validate.conclude(study), None))["left out"]
    assert left_out.startswith("2 training pairs, as the defaults make no board") and study.pairs[0].label in left_out


def test_a_trial_that_makes_no_board_where_the_defaults_make_one_is_given_up(monkeypatch, tmp_path):
    request = replace(REQUEST, seed=1)
    last = open_study(tmp_path / "s", request).pairs[-1]

    class Barren(MadeUp):
        """No board on the last pair with long tails."""

        def __init__(self, engine, params, pair, shortest):
            super().__init__(engine, params, pair, shortest)
            if params.construct.tail >= 10 and pair.seed == last.seed:
                self.best_scores = ()

    monkeypatch.setattr(sessions, "TrialRun", Barren)
    study = searched(tmp_path / "s", 40, request)
    barren = [trial for trial in study.trials(TrialState.PRUNED) if "no_board" in trial.user_attrs]
    assert barren and all(trial.user_attrs["no_board"] == last.label for trial in barren)
    assert not any(study.params_of(trial).construct.tail >= 10 for trial in study.trials(TrialState.COMPLETE))
    found = validated(study)
    how_far = dict(report.facts(study, found, None))["trials"]
    assert f"{len(barren)} made no board where the defaults made one" in how_far


def test_a_study_whose_defaults_never_make_a_board_ends_with_one_sentence(monkeypatch, tmp_path):
    class Empty(MadeUp):
        def _draw(self, params, pair, mean):
            self.best_scores = ()

    monkeypatch.setattr(sessions, "TrialRun", Empty)
    with pytest.raises(InputError, match="make no board within a short run of 1,000 nodes on any pair"):
        searched(tmp_path / "s", 3)


# -- sessions ---------------------------------------------------------------------------------------------------------


def test_too_short_a_session_is_said_once_and_with_the_minutes_that_are_needed(made_up, tmp_path, caplog):
    caplog.set_level("INFO", "lns")
    study = open_study(tmp_path / "s", REQUEST)
    for pair in study.pairs:
        add_default_runs(study, pair, Trace(((40, 1),), 4000, False, 10.0, 10.0))
    # six trials of six long runs, fourteen of half as much, and two times twenty held-out runs, of 10 s each
    for seconds, trials, sentence in (
        (600.0, None, "too short for a verdict: it takes about 19 min 40 s with 1 worker"),
        (2000.0, None, "a verdict takes about 19 min 40 s with 1 worker"),
        (None, 5, "too few trials for a good search: the first 20 are drawn at random"),
    ):
        caplog.clear()
        session = sessions.TuningSession(study, 1, seconds, trials, print)
        session.check_time()
        session.progress("search")
        assert caplog.text.count(sentence) == 1 and len(caplog.records) == 1
    shown = sessions.StudyProgress("search", 12, 0, 4, 1, 0.25, 3, 60.0, runs=2, max_trials=30, left_s=590.0)
    assert str(shown) == (
        "best +0.25 edges over the defaults (trial 3); 12 of 30 trials, 4 ended early, 2 runs of the next; all trials "
        "take about 9 min 50 s more"
    )


def test_the_search_leaves_time_for_the_validation_but_half_at_least_for_itself(made_up, monkeypatch, tmp_path):
    study = open_study(tmp_path / "s", REQUEST)
    session = sessions.TuningSession(study, 2, 1000.0, None, print)
    assert session.search_end() == 1000.0  # nothing is known yet of how long a run takes
    for i, pair in enumerate(study.pairs):
        add_default_runs(study, pair, Trace(((40, 1),), 4000, False, 1.0, 100.0 if i == 0 else 5.0))
    assert session.search_end() == 1000.0  # nothing is promising yet
    for value in (0.0, 0.5, -1.0, 2.0):  # the first one is of the defaults
        study.optuna.tell(study.optuna.ask({**study.space}), value)
    needed = sessions.START_S + sessions.VALIDATION_MARGIN * 5 * 3 * 20 / 2  # two candidates, and the defaults
    assert session.search_end() == pytest.approx(1000 - needed)
    assert sessions.TuningSession(study, 2, 100.0, None, print).search_end() == 50.0
    with monkeypatch.context() as solved:  # where runs are over at once, workers begin as slowly
        solved.setattr(studies.Study, "default_runs", [Trace(((60, 1),), 5, True, 0.001, 0.001)] * 6)
        assert sessions.TuningSession(study, 2, 120.0, None, print).search_end() < 120 - sessions.START_S
    validate.choose_candidates(study)
    assert session.search_end() == 1000.0  # they are being validated; nothing new is promising
    assert sessions.TuningSession(study, 2, None, 9, print).search_end() == float("inf")


def test_only_workers_that_die_again_and_again_end_a_session(monkeypatch, tmp_path):
    session = sessions.TuningSession(open_study(tmp_path / "s", REQUEST), 2, None, None, print)
    lost, most, hours = WorkerLost("worker 5 ended with exit code -9", -9), sessions.MAX_FAILURES * 2, iter(range(99))
    with monkeypatch.context() as week:
        week.setattr(sessions.TuningSession, "elapsed", property(lambda _: 3600.0 * next(hours)))
        for _ in range(most + 1):
            session.count_lost_worker(lost)
    with pytest.raises(InputError, match="worker processes die again and again"):
        for _ in range(most):
            session.count_lost_worker(lost)


# -- trials whose process ends ----------------------------------------------------------------------------------------


def begun(study, **holder):
    """A trial that this process runs, or one whose process has ended with ``holder``."""
    trial = study.next_trial(None)
    trial.suggest_float(*FRACTION)
    if holder:
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        trial.set_user_attr("holder", {**asdict(Holder.me()), "pid": dead.pid, "started": "1", **holder})
    return trial


def test_trials_of_ended_processes_are_queued_again_and_those_of_running_ones_are_not(made_up, tmp_path):
    study = searched(tmp_path / "s", 3)
    mine, orphan, elsewhere = begun(study), begun(study, space=""), begun(study, space="pid:[1]")
    unsigned = study.optuna.ask()
    unsigned.suggest_float(*FRACTION)
    for step, value in enumerate((0.5, 0.25, 9.0)):
        orphan.report(value, step)
    running = [mine.number, orphan.number, elsewhere.number, unsigned.number]
    for reading, left in ((True, running), (False, [mine.number, elsewhere.number])):
        states = open_study(study.path, StudyRequest(), reading=reading).trials()
        assert [trial.number for trial in states if trial.state == TrialState.RUNNING] == left, "a report changes none"
    again = open_study(study.path, StudyRequest()).next_trial(None)
    assert again.suggest_float(*FRACTION) == orphan.params[FRACTION[0]]
    steps = study.trials()[again.number].intermediate_values
    assert steps == {0: 0.5, 1: 0.25, 2: 9.0}, "it goes on behind the runs it had"


@pytest.mark.parametrize(("trials", "left"), [(12, 9), (2, 3)])  # a later trial, and a first one in its long runs
def test_an_interrupted_trial_goes_on_with_its_steps_and_ends_as_if_it_had_not_been(
    monkeypatch, tmp_path, trials, left
):
    made = []

    class Counted(MadeUp):
        def advance(self, budget, stop):
            made.append(budget)
            if len(made) == stop_at[0]:
                raise sessions.Stopped
            return super().advance(budget, stop)

    monkeypatch.setattr(sessions, "TrialRun", Counted)
    stop_at = [0]
    whole = searched(tmp_path / "whole", trials)
    count = len(made)
    made.clear()
    stop_at[0] = count - left
    search_task(open_study(tmp_path / "parts", REQUEST).path, 0, trials)
    assert len(made) == count - left
    parts = searched(tmp_path / "parts", trials)
    ended = [[(t.params, t.intermediate_values) for t in study.finished] for study in (whole, parts)]
    assert sorted(map(str, ended[0][:8])) == sorted(map(str, ended[1][:8]))
    assert len(made) == count + 1, "only the run that was stopped is made again"
    assert any("failed_trial" in trial.system_attrs for trial in parts.trials())


@pytest.mark.parametrize("died", [True, False])
def test_a_trial_that_kills_its_process_is_retried_a_few_times_and_an_interrupted_one_however_often(
    made_up, tmp_path, died
):
    study, drawn = searched(tmp_path / "s", 2), set()
    for _ in range(studies.MAX_RETRIES + 1 if died else studies.MAX_RETRIES + 3):
        trial = begun(study, **({"space": ""} if died else {}))
        drawn.add(trial.params[FRACTION[0]])
        if died:
            open_study(study.path, StudyRequest())
        else:
            study.requeue(trial)
    assert len(drawn) == 1
    assert len(study.trials(TrialState.WAITING, TrialState.RUNNING)) == (0 if died else 1)


def test_an_engine_error_fails_the_trial_and_repeated_ones_stop_the_worker(monkeypatch, tmp_path):
    class Broken(MadeUp):
        def __init__(self, engine, params, pair, shortest):
            super().__init__(engine, params, pair, shortest)
            self.broken = params != Params()

        def advance(self, budget, stop):
            if self.broken:
                raise ZeroDivisionError("no such thing")
            return super().advance(budget, stop)

    monkeypatch.setattr(sessions, "TrialRun", Broken)
    with pytest.raises(ZeroDivisionError):
        searched(tmp_path / "s", 50)
    failed = open_study(tmp_path / "s", StudyRequest()).trials(TrialState.FAIL)
    assert len(failed) == sessions.MAX_FAILURES
    assert all("no such thing" in trial.user_attrs["error"] for trial in failed)


# -- pairs ------------------------------------------------------------------------------------------------------------


def test_named_instances_are_kept_with_the_study_and_held_out_seeds_are_others(tmp_path):
    made = like_e2(8, 5, seed=1)
    path, named = tmp_path / "s", (load_puzzle("like-e2-6x6"), with_mates(made.puzzle, made.solution, 1))
    study = open_study(path, StudyRequest(instances=named, nodes=4000, pairs=5, held_out=20))
    assert {pair.puzzle.name for pair in study.pairs} == {puzzle.name for puzzle in named}
    assert not {pair.seed for pair in study.pairs} & {pair.seed for pair in study.held_out}
    again = open_study(path, StudyRequest())
    assert again.plan.puzzles == study.plan.puzzles == list(named)
    assert [pair.seed for pair in again.pairs] == [pair.seed for pair in study.pairs]


def test_no_two_seeds_of_studies_share_a_pair_and_held_out_members_of_a_family_are_others(tmp_path):
    spans = sorted((first, first + 10**6) for seed in (0, 1, 2, 10**12) for first in first_seeds(seed))
    assert spans[0][0] > 100_000  # shipped instances and rows of the ladder are below
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    study = open_study(tmp_path / "s", REQUEST)
    trained, held_out = ({pair.puzzle.sha256 for pair in pairs} for pairs in (study.pairs, study.held_out))
    assert len(trained) == 6 and len(held_out) == 20 and not trained & held_out
