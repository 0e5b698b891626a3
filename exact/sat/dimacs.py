"""DIMACS files: a formula written as a stream, a solver's answer read, and a program that answers, such as minisat."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lns.exact.child_process import die_with_parent
from lns.exact.outcome import NODES_UNKNOWN
from lns.exact.sat.clauses import Block
from lns.exact.sat.encodings import Encoding
from lns.instances.errors import InputError


def write(encoding: Encoding, file: IO[str]) -> int:
    """Write a formula as DIMACS CNF. Memory holds one block of clauses at a time.

    The comments name the puzzle and say what the variables mean.

    Parameters
    ----------
    encoding : Encoding
    file : file object
        Open for text.

    Returns
    -------
    int
        Number of clauses.
    """
    sizes = encoding.sizes()  # a first pass counts, because the header comes before the clauses
    puzzle = encoding.puzzle
    clauses = sum(sizes.values())
    lines = [
        f"encoding {encoding.name} ({encoding.source}) of {puzzle.name}",
        f"board {puzzle.width} x {puzzle.height} (width x height), sha256 {puzzle.sha256}",
        "cells row by row, pieces in file order, rotations in clockwise quarter turns, all from 0",
        *encoding.describe(),
        *(f"{count} clauses: {name}" for name, count in sizes.items() if count),
    ]
    file.writelines(f"c {re.sub(r'[^ -~]', ' ', line)}\n" for line in lines)
    file.write(f"p cnf {encoding.variables} {clauses}\n")
    file.writelines(text for block in encoding.clauses() for text in lines_of(block))
    return clauses


def lines_of(block: Block, rows: int = 20_000) -> Iterator[str]:
    """The text of a block, many clauses at a time: a clause a line, each ended by 0."""
    row = "%d " * block.shape[1] + "0\n"
    for at in range(0, len(block), rows):
        part = block[at : at + rows]
        yield row * len(part) % tuple(part.reshape(-1).tolist())


def read_answer(text: str, source: str) -> list[int] | None:
    """Read a solver's answer.

    Parameters
    ----------
    text : str
        Output of a competition solver (lines ``s SATISFIABLE`` and ``v 1 -2 ... 0``), or minisat's result file
        (``SAT`` and a line of literals).
    source : str
        Name of the file, for messages.

    Returns
    -------
    list of int or None
        The literals of a model; None if the answer is 'unsatisfiable'.

    Raises
    ------
    InputError
        If the text is in neither format, or is no answer.
    """
    satisfiable: bool | None = None
    literals: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] == "c":
            continue
        verdict = " ".join(words[1:] if words[0] == "s" else words).upper()
        if verdict in ("SAT", "SATISFIABLE"):
            satisfiable = True
        elif verdict in ("UNSAT", "UNSATISFIABLE"):
            satisfiable = False
        elif words[0] == "v" or re.fullmatch(r"-?[0-9]+", words[0]):
            for word in words[words[0] == "v" :]:
                if not re.fullmatch(r"-?[0-9]{1,10}", word):
                    raise InputError(f"'{word}' in a line of values; expected a whole number", source, number)
                literals.append(int(word))
        elif words[0] in ("s", "INDET") or verdict == "UNKNOWN":
            raise InputError(f"'{line.strip()}' is no answer; expected SATISFIABLE or UNSATISFIABLE", source, number)
    if satisfiable is False:
        return None
    model = [literal for literal in literals if literal]
    if not model:
        raise InputError("there is no model; expected 's SATISFIABLE' and lines of values ('v 1 -2 ... 0')", source)
    return model


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
