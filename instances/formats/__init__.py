"""Formats of the field, both ways. `read` guesses by content; a ``format`` decides.

``benoist`` (text of seed 004), ``quads`` (header + quads), ``e2pieces[:ORDER]``, ``csv16`` and ``json`` carry a puzzle;
``url[:MOTIFS_ORDER]``, ``solution`` and ``best`` carry a board. One module each, gathered in `registry`.
"""

from instances.formats.base import Document
from instances.formats.best import best_json
from instances.formats.reading import is_url, load_board, load_puzzle, read, read_board, render, write
from instances.formats.registry import FORMATS
from instances.formats.shipped import shipped_instances
from instances.formats.viewer import url_if_any, viewer_url
from lns_support.files import atomic_write

__all__ = [
    "FORMATS",
    "Document",
    "atomic_write",
    "best_json",
    "is_url",
    "load_board",
    "load_puzzle",
    "read",
    "read_board",
    "render",
    "shipped_instances",
    "url_if_any",
    "viewer_url",
    "write",
]
