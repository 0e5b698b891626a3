"""Rules about imports that hold for every module of a kind, however many there are."""

import ast
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import grimp
import pytest

from lns.cli.main import commands
from lns.exact.kernels import jit

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
PACKAGES = ("instances", "exact", "lns", "tuning")
"""Folders at the top of the repository; all but lns are linked in it."""
DECORATORS = {"kernel", "inline_kernel", "flat_kernel", "inline_flat_kernel"}
NOT_FOR_KERNELS = (
    "lns.instances.formats",
    "lns.instances.draw",
    "lns.runs",
    "lns.cli",
    "lns.terminal",
    "lns.tuning",
    "optuna",
)


def modules() -> dict[str, Path]:
    """Every module of the project: dotted name -> file."""
    found = {}
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts if parts[0] == "lns" else ("lns", *parts)).removesuffix(".__init__")] = path
    return found


def has_kernel(path: Path) -> bool:
    """Whether a function of the file uses a decorator of `lns.exact.kernels.jit`."""
    functions = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.FunctionDef)]
    return any(is_kernel_decorator(decorator) for function in functions for decorator in function.decorator_list)


def is_kernel_decorator(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).split(".")[-1] in DECORATORS


@cache
def kernel_modules() -> list[str]:
    return sorted(name for name, path in modules().items() if name != jit.__name__ and has_kernel(path))


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("lns", include_external_packages=True, cache_dir=None)


def test_kernel_modules_are_found() -> None:
    assert {"lns.construct.kernel", "lns.rng", "lns.exact.region.kernel"} <= set(kernel_modules())
    assert all(callable(getattr(jit, name)) for name in DECORATORS)


def test_kernel_modules_import_no_files_no_command_line_and_no_tuning(graph: grimp.ImportGraph) -> None:
    """Neither directly nor through other modules."""
    for kernel in kernel_modules():
        imported = graph.find_upstream_modules(kernel)
        wrong = [name for name in imported if f"{name}.".startswith(tuple(f"{one}." for one in NOT_FOR_KERNELS))]
        assert not wrong, f"{kernel} imports {wrong}"


def test_kernels_use_all_their_parameters() -> None:
    paths = modules()
    unused = []
    for name in kernel_modules():
        for function in ast.walk(ast.parse(paths[name].read_bytes())):
            if isinstance(function, ast.FunctionDef) and any(map(is_kernel_decorator, function.decorator_list)):
                used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                unused += [f"{name}.{function.name}({arg.arg})" for arg in function.args.args if arg.arg not in used]
    assert not unused


def test_functions_have_at_most_eight_parameters() -> None:
    """Kernels apart. Checked where it holds already; a folder is added once it does there."""
    wide = []
    for name, path in modules().items():
        if not name.startswith(("lns.exact.colorpairs", "lns.exact.region")):
            continue
        for function in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(function, ast.FunctionDef) and not any(map(is_kernel_decorator, function.decorator_list)):
                names = [arg.arg for arg in (*function.args.args, *function.args.kwonlyargs) if arg.arg != "self"]
                wide += [f"{name}.{function.name}: {len(names)}"] * (len(names) > 8)
    assert not wide


def test_weaker_type_checks_are_for_kernel_modules_only() -> None:
    """The overrides that disable error codes of mypy name nothing but kernel modules."""
    weaker = [one["module"] for one in SETTINGS["mypy"]["overrides"] if "disable_error_code" in one]
    named = [name for names in weaker for name in ([names] if isinstance(names, str) else names)]
    assert set(named) <= set(kernel_modules())


@pytest.mark.parametrize(
    ("lines", "unwanted"),
    [
        (["--help", "--version"], {"numpy", "numba", "optuna", "scipy"}),
        ([f"{name} --help" for name in commands()], {"numba", "optuna"}),
    ],
    ids=["lns", "commands"],
)
def test_help_loads_neither_numpy_nor_numba(lines: list[str], unwanted: set[str]) -> None:
    """That of a command may load numpy."""
    program = f"""
import sys
from lns.cli.main import main
for line in {lines}:
    try: main(line.split())
    except SystemExit: pass
    assert not {unwanted} & sys.modules.keys(), line
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
