"""The distribution: what the wheel holds, and that it works in an environment with the core packages alone."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from lns.exact.optional_deps import EXTRAS
from lns.version import __version__

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("instances", "exact", "lns", "tuning")  # folders of the repository; in the wheel all lie in lns
NOT_COPIED = (".git", ".venv", "build", "dist", "site", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")

SCRIPT = """\
import lns

if __name__ == "__main__":
    puzzle = lns.load_puzzle("like-e2-6x6")
    result = lns.solve(puzzle, time=5, workers=2, seed=1, progress=False)
    assert lns.verify(puzzle, result.board).score == result.score
    print("score", result.score)
"""

IMPORT = """\
import sys, time
start = time.process_time()
import lns
seconds = time.process_time() - start
heavy = {"numpy", "numba", "optuna", "scipy", "tqdm"} & set(sys.modules)
sys.exit(f"import lns took {seconds} s and imported {heavy}" if heavy or seconds > 0.1 else 0)
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(command, cwd=cwd, env=clean | environment, capture_output=True, text=True, timeout=600)


def run_ok(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = run(*command, cwd=cwd, **environment)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("distributions")
    shutil.copytree(ROOT, folder / "checkout", ignore=shutil.ignore_patterns(*NOT_COPIED))
    build = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])('..')"
    run_ok(sys.executable, "-c", build, "build_sdist", cwd=folder / "checkout")
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    run_ok(sys.executable, "-c", build, "build_wheel", cwd=folder / sdist.name.removesuffix(".tar.gz"))
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def environment(distributions: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of a fresh environment that has the wheel and what it depends on, at the locked versions."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    pins = re.findall(r"^\S+==[^\\\n]+", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    (folder / "constraints.txt").write_text("\n".join(pins))
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run_ok(*pip, "--constraint", folder / "constraints.txt", distributions[1], cwd=folder)
    return folder / "bin"


@pytest.mark.slow
def test_wheel_and_sdist_hold_what_they_should(distributions: tuple[Path, Path]) -> None:
    sdist, wheel = distributions
    held = set(zipfile.ZipFile(wheel).namelist())
    expected = {path.relative_to(ROOT) for name in PACKAGES for path in (ROOT / name).rglob("*.py")}
    expected |= {path.relative_to(ROOT) for path in (ROOT / "instances" / "data").iterdir()}
    expected |= {Path(name, "py.typed") for name in PACKAGES}
    assert {str(path if path.parts[0] == "lns" else "lns" / path) for path in expected} <= held
    assert {name.split("/")[0] for name in held} == {"lns", f"lns_edge_matching-{__version__}.dist-info"}
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "requirements.lock", "tests/test_package.py"}
    assert wanted <= sources


@pytest.mark.slow
def test_the_command_line_works_with_the_core_packages_alone(environment: Path, tmp_path: Path) -> None:
    lns, cache = environment / "lns", {"XDG_CACHE_HOME": str(environment / "cache")}
    assert run_ok(lns, "--version", cwd=tmp_path) == f"lns {__version__}\n"
    run_ok(lns, "solve", "like-e2-6x6", "--time", "5", "--run-dir", "run", cwd=tmp_path, **cache)
    assert "60 of 60" in run_ok(lns, "verify", "run/best.json", cwd=tmp_path, **cache)


@pytest.mark.slow
def test_a_script_works_with_the_core_packages_alone(environment: Path, tmp_path: Path) -> None:
    python, script = environment / "python", tmp_path / "script.py"
    script.write_text(SCRIPT)
    assert run_ok(python, script, cwd=tmp_path, XDG_CACHE_HOME=str(environment / "cache")) == "score 60\n"


@pytest.mark.slow
def test_importing_lns_is_quick_and_imports_nothing_heavy(environment: Path, tmp_path: Path) -> None:
    run_ok(environment / "python", "-c", IMPORT, cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("exact solve like-e2-3x3 --solver cp", "cp"),
        ("exact solve like-e2-3x3 --solver sat:half-3", "sat"),
        ("exact solve like-e2-3x3 --solver xcc", "cover"),
    ],
)
def test_a_command_that_needs_an_extra_names_it(environment: Path, tmp_path: Path, command: str, name: str) -> None:
    done = run(environment / "lns", *command.split(), cwd=tmp_path, XDG_CACHE_HOME=str(environment / "cache"))
    assert done.returncode == 2
    _, packages = EXTRAS[name]
    assert f"which is not installed (extra '{name}'): pip install {packages}, or make install" in done.stderr


def test_messages_name_the_packages_of_the_extras() -> None:
    """And not ``lns[EXTRA]``: the name ``lns`` on PyPI belongs to another project."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, (_, packages) in EXTRAS.items():
        assert {name.partition("[")[0] for name in packages.split()} <= {
            re.split(r"[\[>]", package)[0] for package in extras[extra]
        }
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        assert not re.search(r"pip install '?lns\b", path.read_text()), path


def test_the_citation_names_this_version() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {__version__} " in (ROOT / "CHANGELOG.md").read_text()
