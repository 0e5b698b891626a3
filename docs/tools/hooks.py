"""Hooks of MkDocs: they add the pages and pictures that are made, and mend links that leave docs/."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT))  # the project whose documentation is built, not another one that is installed

# for a look at a page: pictures are empty and notebooks are not executed
QUICK = bool(os.environ.get("LNS_DOCS_QUICK"))

from docs.tools import notebook, pictures, reference  # noqa: E402

_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Add what is made: reference pages, pictures, notebooks, changelog."""
    made: dict[str, str] = {uri: make() for uri, make in reference.PAGES.items()}
    made |= {f"pictures/{name}.svg": "" if QUICK else draw() for name, draw in pictures.PICTURES.items()}
    for page in ("tutorial", "how-to/research"):
        made[f"{page}.md"] = notebook.as_markdown(DOCS / f"{page}.ipynb", execute=not QUICK)
    made["reference/changelog.md"] = (ROOT / "CHANGELOG.md").read_text()
    made["reference/contributing.md"] = (ROOT / "CONTRIBUTING.md").read_text().replace("](docs/", "](../")
    for uri, content in made.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """A link to a file outside of docs/, which the site has no copy of, becomes the path of the file."""
    folder = (DOCS / page.file.src_uri).parent

    def with_path(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        if target.is_relative_to(DOCS):
            return match[0]
        if not target.exists():
            raise PluginError(f"{page.file.src_uri} links to {match[2]}, which does not exist")
        return f"{match[1]} (`{target.relative_to(ROOT)}`)"

    return _LINK.sub(with_path, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """The parser of numpydoc sections takes the type "path-like" for a subtraction."""
    return html.replace("path - like", "path-like")
