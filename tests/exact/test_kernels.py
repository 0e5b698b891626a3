"""A rule for all kernels of the exact solvers."""

from __future__ import annotations

import ast
from pathlib import Path

import exact


def test_kernels_use_all_their_parameters() -> None:
    unused = []
    for path in sorted(Path(exact.__file__).parent.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            if any(ast.unparse(decorator).endswith("kernel") for decorator in function.decorator_list):
                used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                unused += [(path.name, function.name, arg.arg) for arg in function.args.args if arg.arg not in used]
    assert not unused
