from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lns_support import file_lock, jit, kernel_cache, kernel_sources
from tests.support.demo_package import FILES


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The folder of a small package ``exact.demo`` next to a copy of ``lns_support.jit``."""
    folder = tmp_path / "exact" / "demo"
    folder.mkdir(parents=True)
    (tmp_path / "exact" / "__init__.py").touch()
    support = tmp_path / "lns_support"
    support.mkdir()
    (support / "__init__.py").touch()
    for module in (jit, kernel_cache, kernel_sources, file_lock):
        shutil.copy(module.__file__, support)
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    return folder
