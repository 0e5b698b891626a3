from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lns.exact import file_lock
from lns.exact.kernels import cache as kernel_cache
from lns.exact.kernels import jit
from lns.exact.kernels import sources as kernel_sources
from tests.support.demo_package import FILES


@pytest.fixture
def demo(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The folder of a package ``lns.exact.demo`` beside a copy of ``lns.exact.kernels``, in a checkout or installed."""
    root = tmp_path / getattr(request, "param", "checkout")
    for module in (jit, kernel_cache, kernel_sources, file_lock):
        copy = root.joinpath(*module.__name__.split(".")).with_suffix(".py")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module.__file__, copy)
    folder = root / "lns" / "exact" / "demo"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    for parent in {path.parent for path in root.rglob("*.py")} | {root / "lns", root / "lns" / "exact"}:
        (parent / "__init__.py").touch()
    return folder
