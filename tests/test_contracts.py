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
NOT_FOR_KERNELS = ("instances.formats", "instances.draw", "runs", "cli", "terminal", "tuning")
"""Packages below lns that no kernel may import, and optuna."""


def modules() -> dict[str, Path]:
    """Every module of the project: dotted name -> file."""
    found = {}
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts if parts[0] == "lns" else ("lns", *parts)).removesuffix(".__init__")] = path
    return found


@cache
def functions() -> list[tuple[str, ast.FunctionDef, bool]]:
    """Every function of the project: its module, and whether it has a decorator of `lns.exact.kernels.jit`."""
    return [
        (name, node, any(ast.unparse(decorator).split(".")[-1] in DECORATORS for decorator in node.decorator_list))
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef)
    ]


def kernel_modules() -> set[str]:
    return {name for name, _, is_kernel in functions() if is_kernel} - {jit.__name__}


def test_kernel_modules_are_found() -> None:
    assert {"lns.construct.kernel", "lns.rng", "lns.exact.region.kernel"} <= kernel_modules()
    assert all(callable(getattr(jit, name)) for name in DECORATORS)


def test_kernel_modules_import_no_files_no_command_line_and_no_tuning() -> None:
    """Neither directly nor through other modules."""
    graph = grimp.build_graph("lns", include_external_packages=True, cache_dir=None)
    unwanted = ("optuna", *(f"lns.{package}." for package in NOT_FOR_KERNELS))
    for kernel in kernel_modules():
        wrong = [name for name in graph.find_upstream_modules(kernel) if f"{name}.".startswith(unwanted)]
        assert not wrong, f"{kernel} imports {wrong}"


def test_kernels_use_all_their_parameters() -> None:
    unused = []
    for name, function, is_kernel in functions():
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        if is_kernel and (left := {arg.arg for arg in function.args.args} - used):
            unused.append(f"{name}.{function.name}: {left}")
    assert not unused


def test_functions_have_at_most_eight_parameters() -> None:
    """Kernels and the keywords of the front door apart."""
    wide = []
    for name, function, is_kernel in functions():
        names = [arg.arg for arg in (*function.args.args, *function.args.kwonlyargs) if arg.arg != "self"]
        if len(names) > 8 and not is_kernel and not name.startswith(("lns.api.", "lns.gpu.kernels")):
            wide.append(f"{name}.{function.name}: {len(names)}")
    assert not wide


def test_weaker_type_checks_are_for_kernel_modules_only() -> None:
    """The overrides that disable error codes of mypy name nothing but kernel modules."""
    weaker = [one["module"] for one in SETTINGS["mypy"]["overrides"] if "disable_error_code" in one]
    named = [name for names in weaker for name in ([names] if isinstance(names, str) else names)]
    assert set(named) <= kernel_modules()


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
