"""A SAT solver that is a program of its own, such as Debian's `minisat`: it reads a formula in DIMACS."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

from exact.outcome import NODES_UNKNOWN
from exact.sat.dimacs import read_answer, write
from exact.sat.encoding import Encoding
from lns_support.child_process import die_with_parent
from lns_support.errors import InputError

PREFIX = "program:"
"""Before the name of the program in the name of a SAT solver."""

_SATISFIABLE, _UNSATISFIABLE = 10, 20  # exit statuses of SAT solvers
_LEAST_SHARE = 0.5  # of the limit: the clock that ends a program and the one that is read differ on a busy machine


def _has_used_its_time() -> bool:
    """Whether a program that ended has used the processor time of the limit: minisat catches the signal, then ends."""
    limit, _ = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return limit != resource.RLIM_INFINITY and used.ru_utime + used.ru_stime >= _LEAST_SHARE * limit


def run_program(words: str, encoding: Encoding, folder: Path) -> tuple[list[int] | None, int]:
    """Solve a formula by a program.

    Parameters
    ----------
    words : str
        The program and its options, separated by blanks. It is called with the name of a DIMACS file; minisat also gets
        the name of a file for its result. Other programs print ``s`` and ``v`` lines, as in SAT competitions.
    encoding : Encoding
    folder : Path
        An empty folder for these files. The caller removes it: this process may be killed at its limit.

    Returns
    -------
    model : list of int or None
        None if there is none.
    decisions : int
        As the program prints them; `NODES_UNKNOWN` if it does not.

    Raises
    ------
    InputError
        If the program is not installed.
    RuntimeError
        If it ends without an answer.
    """
    name, *options = words.split() or [""]
    path = shutil.which(name)
    if path is None:
        raise InputError(f"the program '{name}' is not installed; expected one of the search path, such as minisat")
    formula, result = folder / "formula.cnf", folder / "result"
    with formula.open("w", encoding="ascii") as file:
        write(encoding, file)
    files = [str(formula), str(result)] if Path(path).name.startswith("minisat") else [str(formula)]
    ended = subprocess.run(
        [path, *options, *files], capture_output=True, text=True, errors="replace", preexec_fn=die_with_parent
    )
    has_answer = ended.returncode in (_SATISFIABLE, _UNSATISFIABLE)
    if ended.returncode == -signal.SIGXCPU or (not has_answer and _has_used_its_time()):
        os.kill(os.getpid(), signal.SIGXCPU)  # the limit of processor time holds for this process and its program
    if not has_answer:
        raise RuntimeError(f"the program {name} ended with status {ended.returncode} and no answer")
    answer = result.read_text() if result.exists() else ended.stdout
    decisions = re.search(r"^c?\s*decisions\s*:?\s+([0-9]+)", ended.stdout, re.MULTILINE)
    return read_answer(answer, name), int(decisions[1]) if decisions else NODES_UNKNOWN
