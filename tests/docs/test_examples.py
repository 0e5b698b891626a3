"""The documentation is true: Python blocks run, the parsers accept its command lines, the reference is complete."""

import re
import shlex
from pathlib import Path
from unittest import mock

import pytest

from lns.cli.main import find_command, parser_of
from lns.instances.errors import InputError
from tests.docs import pages

PYTHON = [page for page in pages.PAGES if pages.blocks(page, "python")]
_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


@pytest.mark.slow
@mock.patch.dict("lns.exact.registry.SOLVERS")  # what an example registers is undone
@mock.patch.dict("lns.neighbourhoods.operators.REGISTERED")
@pytest.mark.parametrize("page", PYTHON, ids=pages.name)
def test_python_blocks_run_in_their_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"__name__": "__main__"}
    for number, code in enumerate(pages.blocks(page, "python")):
        exec(compile(code, f"{pages.name(page)}, block {number}", "exec"), space)


def command_lines(page: Path) -> list[str]:
    lines = [line for code in pages.blocks(page, "sh", "") for line in code.replace("\\\n", " ").splitlines()]
    return [line for line in lines if re.match(r"(\$ )?(\.venv/bin/)?lns [a-z]", line)]


@pytest.mark.parametrize("page", [page for page in pages.PAGES if command_lines(page)], ids=pages.name)
def test_command_lines_are_accepted_by_the_parsers(page: Path) -> None:
    for line in command_lines(page):
        words = shlex.split(re.split(r"\s{3,}|\s#\s", line)[0])
        command, arguments = find_command(words[1:])
        assert command, line
        try:
            parser_of(command).parse_args(arguments)
        except (SystemExit, InputError) as error:
            pytest.fail(f"{line}: {error}")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_pages_outside_of_the_site_lead_to_files(name: str) -> None:  # MkDocs checks those of the site
    for target in _LINK.findall((pages.ROOT / name).read_text()):
        assert target.startswith("https:") or (pages.ROOT / target).exists(), f"{target} is missing"


def test_every_public_name_is_in_the_python_reference() -> None:
    import lns

    text = (pages.ROOT / "docs" / "reference" / "python.md").read_text()
    assert set(re.findall(r"^::: lns\.(\w+)$", text, re.MULTILINE)) == set(lns.__all__)
