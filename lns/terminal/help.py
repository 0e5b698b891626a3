"""The layout of `lns COMMAND --help`."""

from __future__ import annotations

import argparse


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Wraps the paragraphs of a description to the terminal; indented lines and headings stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap

        lines: list[str] = []
        paragraph: list[str] = []
        for line in [*text.splitlines(), ""]:
            is_text = bool(line) and not line.startswith(" ")
            if paragraph and (not is_text or line.endswith(":") or paragraph[-1].endswith(":")):
                lines += textwrap.wrap(" ".join(paragraph), width)
                paragraph = []
            if is_text:
                paragraph.append(line)
            else:
                lines.append(line)
        return "\n".join(lines).rstrip("\n")
