from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from exact import file_lock
from exact.kernels import cache as kernel_cache
from exact.kernels import jit
from exact.kernels import sources as kernel_sources
from tests.support.demo_package import FILES


@pytest.fixture
def demo(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The folder of a package ``exact.demo`` next to a copy of ``exact.kernels.jit``, in a checkout or installed."""
    root = tmp_path / getattr(request, "param", "checkout")
    for module in (jit, kernel_cache, kernel_sources, file_lock):
        copy = root.joinpath(*module.__name__.split(".")).with_suffix(".py")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module.__file__, copy)
    folder = root / "exact" / "demo"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    for parent in {path.parent for path in root.rglob("*.py")} | {root / "exact"}:
        (parent / "__init__.py").touch()
    return folder
