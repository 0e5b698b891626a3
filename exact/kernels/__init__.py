"""Compiled code: decorators of kernels, the cache of their machine code, sets as bit vectors, allocation of states."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

_Made = TypeVar("_Made")


def allocate(kind: Callable[..., _Made], sizes: dict[str, int], **given: Any) -> _Made:
    """Make a NamedTuple of the arrays ``given`` and new ones for its fields ``Annotated[array type, shape, fill]``.

    A shape is a number, a name of ``sizes``, or a tuple of these; arrays without ``fill`` are filled with 0.
    """
    for name, (dtype, shape, fill) in _fields(kind).items():
        if name not in given:
            lengths = tuple(sizes[length] if isinstance(length, str) else length for length in shape)
            given[name] = np.full(lengths, fill, dtype) if fill else np.zeros(lengths, dtype)
    return kind(**given)


@cache
def _fields(kind: Callable[..., Any]) -> dict[str, tuple[Any, tuple[int | str, ...], int]]:
    """Return data type, shape and fill of the annotated fields, by name."""
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            array, shape, *fill = get_args(hint)
            dtype = get_args(get_args(array)[1])[0]
            found[name] = dtype, shape if isinstance(shape, tuple) else (shape,), fill[0] if fill else 0
    return found
