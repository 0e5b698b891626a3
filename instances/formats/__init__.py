"""Reading and writing the file formats of the field.

Reading
    `load_puzzle`, `load_board`; `read_puzzle`, `read_board` and `read` also return what was noticed while reading, as
    a `Document`. The format is detected from the content unless it is named.
Writing
    `write` to a file, `render` to text, `viewer_url` and `url_if_any` for the URL of an online viewer, `best_json` for
    the result file of the optimizer, `atomic_write` for any other text.
Sources
    `shipped_instances` lists the instances of the package, `is_url` tells a URL from the name of a file, and
    `source_name` is how messages name either.

`FORMATS` has every format by name. These carry a puzzle: ``benoist`` (text of Benoist), ``quads`` (header and quads),
``e2pieces`` (bare quads; ``e2pieces:ORDER`` names the order of the sides), ``csv16``, ``json``, ``pieces`` (any
dialect, by evidence), ``meta`` and ``tetravex``. These carry a board: ``url`` (``url:MOTIFS_ORDER`` names the order of
the letters), ``solution``, ``best``, ``cells`` (any dialect), ``clues``, ``meta-board``, ``tetravex-board`` and
``picture``.
"""

from lns.instances.files import atomic_write
from lns.instances.formats.base import Document, is_url, shipped_instances, source_name
from lns.instances.formats.own_json import best_json
from lns.instances.formats.reading import (
    CLUE_WORDS,
    HELD,
    load_board,
    load_puzzle,
    read,
    read_board,
    read_puzzle,
    render,
    with_clues,
    with_facts,
    write,
)
from lns.instances.formats.registry import FORMATS
from lns.instances.formats.viewer import url_if_any, viewer_url

__all__ = [
    "CLUE_WORDS",
    "FORMATS",
    "HELD",
    "Document",
    "atomic_write",
    "best_json",
    "is_url",
    "load_board",
    "load_puzzle",
    "read",
    "read_board",
    "read_puzzle",
    "render",
    "shipped_instances",
    "source_name",
    "url_if_any",
    "viewer_url",
    "with_clues",
    "with_facts",
    "write",
]
