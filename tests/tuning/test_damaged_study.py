"""Studies that were damaged, mixed up, or sent by somebody else: one sentence, and nothing is written."""

from __future__ import annotations

import json
import os

import pytest

from lns.runs.files import seal
from lns_support.errors import InputError
from tests.fuzz_study import FILES, fuzz, recorded_study, report, state
from tests.tuning.made_up import REQUEST
from tuning.plan import StudyRequest, first_seeds
from tuning.study import open_study

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def test_damaged_studies_end_in_a_page_or_a_sentence(tmp_path):
    outcome = fuzz(tmp_path, 100, 1)
    assert outcome["shown"] > 5 and outcome["refused"] > 40


@pytest.mark.parametrize("name", [*FILES, "best_params.toml", "base.toml"])
@pytest.mark.parametrize("reading", [False, True])
def test_links_are_refused_and_not_followed(tmp_path, name, reading):
    path, outside = recorded_study(tmp_path / "s"), tmp_path / "outside"
    outside.mkdir()
    (path / name).unlink(missing_ok=True)
    (path / name).symlink_to(outside / name)
    for content in (None, "no whole line"):
        if content is not None:
            (outside / name).write_text(content)
        before = state(outside)
        with pytest.raises(InputError, match=f"{name}: is a symbolic link"):
            open_study(path, StudyRequest(), reading=reading)
        assert state(outside) == before


@pytest.mark.parametrize("name", FILES[1:])
def test_a_file_with_another_name_outside_is_not_written(tmp_path, name):
    path = recorded_study(tmp_path / "s")
    os.link(path / name, tmp_path / "other")
    before = (tmp_path / "other").read_bytes()
    open_study(path, StudyRequest(), reading=True)
    assert (path / name).stat().st_nlink == 2
    study = open_study(path, StudyRequest())
    study.requeue(study.next_trial(None))
    assert (path / "journal.log").stat().st_size > (0 if name == "runs.jsonl" else len(before))
    assert (tmp_path / "other").read_bytes() == before and (path / name).stat().st_nlink == 1


@pytest.mark.parametrize("name", FILES[1:])
def test_a_report_leaves_an_incomplete_line_where_it_is_and_says_so(tmp_path, name, caplog):
    path = recorded_study(tmp_path / "s")
    with (path / name).open("a") as file:
        file.write("half a li")
    before = state(path)
    status, _ = report(path)
    assert status in (0, 1) and state(path) == before
    open_study(path, StudyRequest(), reading=True)
    assert f"{name}: an incomplete last line is left out" in caplog.text


@pytest.mark.parametrize(
    "field,value", [("best_scores", [1]), ("best_scores", [["x", 1]]), ("worths", [[1e999, 1]]),
                    ("worths", [[1]]), ("exhausted", 1), ("nodes", None)],
)  # fmt: skip
def test_a_value_of_another_type_in_a_run_is_refused_with_its_line(tmp_path, field, value):
    path = recorded_study(tmp_path / "s")
    lines = (path / "runs.jsonl").read_text().splitlines()
    record = json.loads(lines[2]) | {field: value}
    record.pop("sum")
    lines[2] = seal(record)
    (path / "runs.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"runs\.jsonl:3: .*{field}"):
        open_study(path, StudyRequest(), reading=True)


@pytest.mark.parametrize(
    "changes", [{"instances": [3]}, {"instances": [["a"]]}, {"instances": [], "family": ""}, {"engine": "<b>"},
                {"pairs": 10**6}, {"first_seeds": [1, 2]}, {"family": "x"},
                {"first_seeds": [float(seed) for seed in first_seeds(REQUEST.seed)]}],
)  # fmt: skip
def test_a_wrong_value_in_study_json_is_refused(tmp_path, changes):
    path = recorded_study(tmp_path / "s")
    values = json.loads((path / "study.json").read_text()) | changes
    values.pop("sum")
    (path / "study.json").write_text(seal(values) + "\n")
    status, messages = report(path)
    assert status == 2 and messages.count("\n") == 1 and "study.json" in messages
