"""The pages of the documentation: their blocks of code, by language."""

import json
import re
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"])
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, *languages: str) -> list[str]:
    """The code blocks of a page in one of the languages; "" are blocks without one."""
    found = _BLOCK.findall(page.read_text())
    return [dedent(code) for _, language, code in found if language in languages]


def cells(notebook: Path) -> list[str]:
    """The code cells of a notebook."""
    document = json.loads(notebook.read_text())
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]
