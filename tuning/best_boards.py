"""The best board of each instance under version control: runs/best/NAME.json, and a row of its README for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from instances.verify import verify
from lns.api.files import load_board, load_puzzle
from lns.terminal.output import print_text
from lns_support.errors import InputError
from lns_support.files import atomic_write, read_text
from lns_support.json_values import json_object

BEST = Path("runs/best")


def keep_best(run: Path, seed: int, command: str, commit: str) -> str:
    """Copy the best board of a run to runs/best, verified, if it beats the one there, and tell it in the README.

    Parameters
    ----------
    run : Path
        Run directory, or the ``--boards`` of `lns benchmark`.
    seed : int
        Random seed of the run.
    command : str
        Its command, as in tuning/queue.toml.
    commit : str
        The commit that it runs on.

    Returns
    -------
    str
        The score; "" if there is no board yet.
    """
    score = ""
    for file in [*run.glob("best.json"), *run.glob(f"*-{seed}.json")]:
        said: dict[str, Any] = json_object(read_text(file))
        source = Path(said["instance"])
        puzzle = load_puzzle(said["instance"])
        checked = verify(puzzle, load_board(str(file), puzzle))
        if not (checked.valid and checked.full):
            raise InputError("this board breaks a rule", file)
        score, target = str(checked.score), BEST / f"{source.stem}.json"
        best: dict[str, Any] = json_object(read_text(target)) if target.exists() else {"score": -1}
        if checked.score > best["score"] and best.get("instance_sha256", puzzle.sha256) == puzzle.sha256:
            again = f"solve {source.name} --workers 1 --seed {seed} --target {score}"
            if command.startswith("solve "):
                again = command.replace(" --run-dir {run}", "").replace("{seed}", str(seed)).replace("{data}/", "")
            best = said | {"instance": source.stem, "url": "", "command": f"lns {again}", "commit": commit}
            BEST.mkdir(exist_ok=True)
            atomic_write(target, json.dumps(best) + "\n")
            print_text(f"{target}: {score} of {checked.max_score}", flush=True)
        if best.get("seed") == seed:  # also where a process was killed before it told it
            _tell(source.stem, best)
    return score


def _tell(name: str, best: dict[str, Any]) -> None:
    """Put a board into the table of the README, at the place of its instance."""
    readme, link = BEST / "README.md", f"| [{name}]({name}.json) |"
    before = readme.read_text().splitlines() if readme.exists() else []
    at = next((number for number, line in enumerate(before) if line.startswith(link)), len(before))
    published = before[at].split("|")[3].strip() if at < len(before) else "none"
    row = f"{link} **{best['score']}** of {best['max_score']} | {published} | `{best['command']}` | {best['commit']} |"
    if before[at : at + 1] != [row]:
        atomic_write(readme, "\n".join([*before[:at], row, *before[at + 1 :]]) + "\n")
