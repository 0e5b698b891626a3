"""What a study proved is used by `lns solve`, for what it was proved for and for nothing else."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lns
from lns.api import kept_params
from lns.api.kept_params import KeptParams, find, folder, keep
from lns.cli.main import main
from lns.instances.generate import family, like_e2
from lns.instances.puzzle import Clue, Puzzle
from lns.params import Params, from_dict, load, to_toml
from lns.runs.files import read_sealed, seal
from tests.instances.small_puzzles import renumbered
from tests.lns.run_parts import QUICK, log_of
from tests.shared_data import shared

SMALL = lns.load_puzzle("like-e2-6x6")
FOUND = KeptParams(QUICK, "/home/a/runs/tune-mine", "my.txt", "+0.40 edges on 24 held-out pairs")


def is_found(puzzle: Puzzle, engine: str = "auto") -> bool:
    kept, note = find(puzzle, engine)
    assert note == "" and kept in (None, FOUND)
    return kept is not None


def test_they_are_for_the_set_of_pieces_with_its_clues_in_any_numbering() -> None:
    puzzle, board = lns.generate("like-e2", width=6, seed=5, clues=2)
    assert not is_found(puzzle)
    keep(FOUND, "auto", puzzle, family=False)
    assert is_found(puzzle) and not is_found(puzzle, "construct")
    assert is_found(renumbered(puzzle, board, 7)[0])
    moved = Clue(puzzle.clues[0].cell + 1, puzzle.clues[0].piece, puzzle.clues[0].rotation)
    for clues in ([], puzzle.clues[:1], [moved]):
        assert not is_found(puzzle.with_clues(clues)), "what gains with some clues loses with others"
    assert not is_found(lns.generate("like-e2", width=6, seed=6)[0])
    keep(FOUND, "auto", puzzle.with_clues([]), family=False)
    assert is_found(renumbered(puzzle, board, 8)[0].with_clues([]))
    assert not is_found(puzzle.with_clues(puzzle.clues[:1]))


def test_those_of_a_family_are_for_its_members_without_clues() -> None:
    keep(FOUND, "auto", family("like-e2:6x6")(100_001).puzzle, family=True)
    for seed in range(40):
        assert is_found(like_e2(6, 6, seed=seed).puzzle)
    assert is_found(SMALL) and not is_found(like_e2(6, 6, clues=1).puzzle)
    keep(FOUND, "auto", family("like-e2:16x16")(1).puzzle, family=True)
    assert is_found(lns.load_puzzle(shared("instances", "eternity2.txt")))
    others = [
        like_e2(6, 7), like_e2(7, 6), like_e2(6, 6, 3, 6), family("uniform:6x6")(1), family("unframed:6x6")(1),
        family("tetravex:6x6")(1),
    ]  # fmt: skip
    assert not any(is_found(other.puzzle) for other in others)
    own = replace(FOUND, study="/b")
    keep(own, "auto", SMALL, family=False)
    assert find(SMALL, "auto")[0] == own and is_found(like_e2(6, 6, seed=9).puzzle)


def test_what_was_proved_with_another_engine_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    path = keep(FOUND, "auto", SMALL, family=False)
    monkeypatch.setattr(kept_params, "engine_digest", lambda: "0" * 32)
    kept, note = find(SMALL, "auto")
    assert kept is None and "with another version of the engine, so the defaults are used" in note
    other = keep(FOUND, "auto", SMALL, family=False)
    assert other != path and path.exists() and is_found(SMALL), "two checkouts keep their own"
    other.unlink()
    of_family = replace(FOUND, study="/f")
    keep(of_family, "auto", SMALL, family=True)
    assert find(SMALL, "auto") == (of_family, ""), "what is proved of its family holds"


def test_damaged_and_foreign_files_are_one_sentence_and_the_defaults_are_used() -> None:
    path = keep(FOUND, "auto", SMALL, family=False)
    text = path.read_text()
    elsewhere = keep(FOUND, "auto", like_e2(8, 8).puzzle, family=False).read_text()
    values = json.loads(text)
    del values["sum"]
    broken: list[str | bytes] = [
        text.replace("+0.40", "+9.40"), text[:-3], "", "[]", b"\xff\x00", elsewhere,
        seal(values | {"schema": 99}), seal(values | {"params": [1]}), seal(values | {"params": {"a": {"b": 1}}}),
        seal(values | {"params": {"construct": {"tail": 10**30}}}), seal(values | {"study": 5}),
    ]  # fmt: skip
    for content in broken:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        kept, note = find(SMALL, "auto")
        assert kept is None and note.startswith(f"{path}:") and "\n" not in note
        assert note.endswith("; so the defaults are used instead of what a study proved")
    path.unlink()
    os.mkfifo(path)
    assert "pipe" in find(SMALL, "auto")[1]
    shutil.rmtree(folder())
    folder().write_text("no directory")
    assert find(SMALL, "auto") == (None, "")


def solved(run: Path, *options: str) -> tuple[dict[str, Any], list[tuple[int, bytes]]]:
    """run.json and the logged boards of some steps."""
    words = ["solve", "like-e2-6x6", "--steps", "3", "--seed", "4", "--workers", "1", "--run-dir", str(run), *options]
    assert main(words) == 0
    return json.loads((run / "run.json").read_text()), log_of(run)


def test_solve_uses_them_says_so_and_writes_what_it_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quick.toml").write_text(to_toml(QUICK))
    given, boards = solved(tmp_path / "given", "--params", "quick.toml")
    assert given["params_source"] == "quick.toml" and from_dict(given["params"]) == QUICK
    keep(replace(FOUND, study=str(tmp_path / "runs" / "tune-mine")), "auto", SMALL, family=False)
    capsys.readouterr()
    used, again = solved(tmp_path / "kept")
    sentence = "parameters of runs/tune-mine: +0.40 edges on 24 held-out pairs (use --params default for the defaults)"
    assert capsys.readouterr().err.count(sentence) == 1 and sentence in (tmp_path / "kept" / "run.log").read_text()
    assert used["params_source"] == f"{tmp_path}/runs/tune-mine: +0.40 edges on 24 held-out pairs"
    assert used["params"] == given["params"] and again == boards, "same seed, version and parameters: same search"
    assert load(tmp_path / "kept" / "params.toml") == QUICK
    refused, _ = solved(tmp_path / "refused", "--params", "default")
    assert refused["params_source"] == "default" and from_dict(refused["params"]) == Params()
    assert sentence not in capsys.readouterr().err
    named, _ = solved(tmp_path / "named", "--params", "quick.toml")
    assert named["params_source"] == "quick.toml"


def test_a_resumed_run_goes_on_with_what_it_began_with(tmp_path: Path) -> None:
    keep(FOUND, "auto", SMALL, family=False)
    whole = solved(tmp_path / "whole")[1]
    words = ["solve", "like-e2-6x6", "--seed", "4", "--workers", "1", "--run-dir", str(tmp_path / "parts")]
    assert main([*words, "--steps", "2"]) == 0
    shutil.rmtree(folder())
    keep(replace(FOUND, params=Params()), "auto", SMALL, family=False)
    assert main(["resume", str(tmp_path / "parts"), "--steps", "1"]) == 0
    assert log_of(tmp_path / "parts") == whole
    assert from_dict(read_sealed(tmp_path / "parts" / "run.json").get("params")) == QUICK


def test_the_estimate_chooses_alike_and_a_damaged_file_warns(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(FOUND, "auto", lns.load_puzzle("like-e2-8x8"), family=False)
    assert main(["estimate", "like-e2-8x8", "--time", "1", "--seed", "1"]) == 0
    assert "parameters of /home/a/runs/tune-mine" in capsys.readouterr().err
    keep(FOUND, "auto", SMALL, family=False).write_text("")
    for more in ({}, {"params": "default"}, {"params": Params()}, {"params": {}}):
        caplog.clear()
        lns.solve(SMALL, seed=1, workers=1, steps=1, progress=None, **more)  # type: ignore[arg-type]
        said = [record.levelname for record in caplog.records if "so the defaults are used" in record.message]
        assert said == ([] if more else ["WARNING"])
