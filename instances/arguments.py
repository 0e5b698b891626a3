"""Checks that the arguments of public functions have the annotated types, before the work begins."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable, Iterable
from functools import cache, wraps
from numbers import Integral, Real
from os import PathLike
from typing import Any, ParamSpec, TypeVar, get_args, get_origin

from lns.instances.errors import InputError
from lns.instances.text import printable

P = ParamSpec("P")
R = TypeVar("R")
Class = TypeVar("Class", bound=type[Any])
Kind = tuple[str, Callable[[Any], bool]]

_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    bool: "True or False",
    type(None): "None",
    PathLike: "a path",
    dict: "a dict",
}
_NUMBERS: dict[type, type] = {int: Integral, float: Real}
_SHOWN = 40  # most characters of a value that a message shows


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that it raises InputError for an argument of another type than annotated.

    Numbers of NumPy count as numbers. Items are checked only in lists, tuples and sets. Signatures of callbacks are not
    checked, nor are arguments that have no annotation or are annotated as ``Any``.
    """
    parameters = inspect.signature(function).parameters

    @cache  # an annotation is evaluated once, and only in a call, when all modules are loaded
    def kind(name: str) -> Kind:
        annotation = parameters[name].annotation if name in parameters else Any
        return _kind(eval(annotation, {}, _Names(function.__globals__)) if isinstance(annotation, str) else annotation)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in [*zip(parameters, args, strict=False), *kwargs.items()]:
            expected, fits = kind(name)
            if not fits(value):
                shown = printable(repr(value), _SHOWN)
                raise InputError(f"{name} is {shown} ({type(value).__name__}); expected {expected}")
        return function(*args, **kwargs)

    return call


def checked_class(cls: Class) -> Class:
    """Decorate a dataclass so that its constructor checks the types of its arguments as `checked` does."""
    cls.__init__ = checked(cls.__init__)
    return cls


class _Names(dict[str, Any]):
    """The global names of a module; a name imported only for type checkers stands for any class of that name."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or type(name, (), {})


def _kind(annotation: Any) -> Kind:
    """Return an annotation in words, such as "a whole number or None", and a function that tests if a value fits it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (Any, inspect.Parameter.empty):
        return "anything", lambda value: True
    if Callable in (origin, annotation):
        return "a function", callable
    if origin is dict:
        return "a dict", lambda value: isinstance(value, dict)
    if isinstance(origin, type) and issubclass(origin, Iterable):  # accept every iterable but text
        each, fits = _kind(arguments[0])
        listed = () if hasattr(origin, "__array__") else (list, tuple, set)
        words = f"a sequence of {re.sub('^an? ', '', each)}s" if isinstance(arguments[0], type) else "a sequence"

        def is_sequence(value: Any) -> bool:
            is_text = isinstance(value, str | bytes) or not isinstance(value, Iterable)
            return not is_text and (not isinstance(value, listed) or all(map(fits, value)))

        return words, is_sequence
    if arguments and origin is not PathLike:
        said, tests = zip(*map(_kind, arguments), strict=True)
        words = " or ".join(filter(None, (", ".join(said[:-1]), said[-1])))
        return words, lambda value: any(fits(value) for fits in tests)
    named = origin or annotation or type(None)
    article = "an" if named.__name__[0] in "AEIOU" else "a"
    kind = _NUMBERS.get(named, named)
    words = _WORDS.get(named, f"{article} {named.__name__}")
    return words, lambda value: isinstance(value, kind) or kind.__name__ in [b.__name__ for b in type(value).__mro__]
