"""The engines by name. Importing this module loads no engine; `make_engine` imports the engine that it makes."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lns.instances.errors import InputError
from lns.instances.puzzle import refuse_copies
from lns.neighbourhoods import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lns.instances.puzzle import Puzzle
    from lns.loop.search_loop import SearchLoop
    from lns.params import Params

_ROOT = Path(__file__).resolve().parents[1]
ENGINES = ("auto", "gpu", "construct", "beam", "tabu", "lns", "polish", *OPERATORS)
_KERNELS = {  # engine -> (rough number of its kernels, module of its first kernel)
    "auto": (37, "construct.kernel"), "gpu": (37, "construct.kernel"), "construct": (15, "construct.kernel"),
    "beam": (3, "construct.beam"), "tabu": (4, "tabu.kernel"), "lns": (30, "construct.beam"),
}  # fmt: skip


def kernel_count(engine: str) -> int:
    """Return roughly how many kernels `lns.warmup.warm_up` compiles for an engine, as told to the user."""
    return _KERNELS.get(engine, _KERNELS["lns"])[0]


def main_kernel(engine: str) -> str:
    """Return the module of an engine's first kernel: if this module is not compiled yet, a run begins by compiling."""
    return f"lns.{_KERNELS.get(engine, _KERNELS['lns'])[1]}"


def make_engine(
    name: str,
    puzzle: Puzzle,
    params: Params,
    seed: int,
    island: int,
    islands: int = 1,
    operators: Sequence[str] | None = None,
) -> SearchLoop:
    """Make the engine ``name`` of one island, before its first step.

    `operators_of` says which operators an engine has; ``operators`` are those of "lns" that change a board, by default
    all known in this process. "gpu" is "auto" with a graphics card for the construction of the first island; "polish"
    improves a given board. Each ``island``, counted from 0, has its own random stream; all ``islands`` together
    partition the prefixes of the construction. Raises InputError for an unknown engine or operator, or if the engine
    cannot take the puzzle (too many colours, for instance).
    """
    from lns.construct import refused_rules
    from lns.loop.search_loop import SearchLoop
    from lns.neighbourhoods.operators import Island, make_operators, operators_of
    from lns.orientation import Orientation
    from lns.rng import STREAM, random_state

    if name not in ENGINES:
        raise InputError(f"unknown engine '{name}'; expected one of {', '.join(ENGINES)}")
    refuse_copies(puzzle, f"engine {name}")
    refused = refused_rules(puzzle)
    if refused and name in ("gpu", "construct", "beam", "suffix"):
        raise InputError(
            f"engine {name} fills rectangles with a frame with pieces that may be turned, and {puzzle.name} has "
            f"{' and '.join(refused)}; expected engine auto, lns or tabu"
        )
    puzzle = puzzle.renumbered()
    orientation = None if refused else Orientation.of_island(puzzle, island, islands)
    names = operators_of(name, puzzle, params, operators)
    made = make_operators(names, Island(puzzle, orientation, params, seed, island, name))
    random = random_state(seed, island + STREAM)
    return SearchLoop(puzzle, params, made, random, island, keeps_half=name == "polish")


# -- digest of the sources that decide a search: tuned parameters hold only for the engine they were tested with ------


@cache
def engine_digest(module: str = "lns.engines", root: Path = _ROOT) -> str:
    """Return a digest (32 hexadecimal digits) of all sources that can decide the results of a module.

    A process computes each digest once. Searches use the default ``module``, studies use `lns.tuning.objective`.
    """
    digest = hashlib.sha256()
    for path in sorted(decisive_sources(module, root)):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:32]


def decisive_sources(module: str = "lns.engines", root: Path = _ROOT) -> set[Path]:
    """Return the files of a module and of every module of this project that it imports, directly or indirectly.

    Packages of modules count, too; imports for the type checker, or in functions of a package's `__init__`, do not.
    """
    waiting, paths = [module], set()
    while waiting:
        module = waiting.pop()
        path = _path_of(root, module)
        if path is not None and path not in paths:
            paths.add(path)
            waiting += [module.rpartition(".")[0], *_imports(path)]
    return paths


def _path_of(root: Path, module: str) -> Path | None:
    base = root.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if module and path.is_file()), None)


def _imports(path: Path) -> Iterator[str]:
    """Yield the dotted names that the file imports; for ``from a import b`` both a and a.b, as b may be a module."""
    waiting: list[ast.AST] = list(ast.parse(path.read_bytes()).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not (path.name == "__init__.py" and isinstance(node, ast.FunctionDef)):
            waiting += ast.iter_child_nodes(node)
