"""Functions compiled by numba (kernels): decorators, cache of machine code; also bit vectors, array allocation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

_Made = TypeVar("_Made")


def allocate(kind: Callable[..., _Made], sizes: dict[str, int], **given: Any) -> _Made:
    """Make a NamedTuple of type ``kind`` from the arrays ``given`` and new arrays for its other annotated fields.

    The annotation is ``Annotated[array type, shape, fill]``, where a shape is a length, a key of ``sizes``, or a tuple
    of these; without ``fill`` an array is filled with 0.
    """
    for name, (dtype, shape, fill) in _fields(kind).items():
        if name not in given:
            lengths = tuple(sizes[length] if isinstance(length, str) else length for length in shape)
            given[name] = np.full(lengths, fill, dtype) if fill else np.zeros(lengths, dtype)
    return kind(**given)


@functools.cache  # the name `cache` is a module of this package
def _fields(kind: Callable[..., Any]) -> dict[str, tuple[Any, tuple[int | str, ...], int]]:
    """Return data type, shape and fill value of each annotated field of ``kind``, by name of the field."""
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            array, shape, *fill = get_args(hint)
            dtype = get_args(get_args(array)[1])[0]
            found[name] = dtype, shape if isinstance(shape, tuple) else (shape,), fill[0] if fill else 0
    return found
