"""DIMACS files: writing a formula as a stream, and reading a solver's answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from exact.sat.clauses import Block
from exact.sat.encoding import Encoding
from lns_support.errors import InputError


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
