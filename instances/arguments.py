"""Arguments of public functions, compared with their annotations before the work begins."""

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
_SHOWN = 40  # characters of a value in a message


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: an argument of another type than its annotation says raises InputError, which names type and value.

    Numbers of numpy count as numbers. What is in a dict, an iterator or a callback is not looked at, nor an annotation
    with ``Any``.
    """
    parameters = inspect.signature(function).parameters

    @cache  # evaluated at the first call, when all modules are loaded
    def annotations() -> dict[str, Any]:
        names = _Names(function.__globals__)
        given = {name: each.annotation for name, each in parameters.items() if each.annotation is not each.empty}
        return {name: eval(one, {}, names) if isinstance(one, str) else one for name, one in given.items()}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in [*zip(parameters, args, strict=False), *kwargs.items()]:
            annotation = annotations().get(name, Any)
            if not _fits(value, annotation):
                raise InputError(f"{name} is {_shown(value)}; expected {_in_words(annotation)}")
        return function(*args, **kwargs)

    return call


def checked_class(cls: Class) -> Class:
    """Decorator: like `checked`, for the arguments of a dataclass."""
    cls.__init__ = checked(cls.__init__)
    return cls


class _Names(dict[str, Any]):
    """The names of a module. One that is imported only for type checkers stands for all classes of that name."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or type(name, (), {})


def _fits(value: object, annotation: Any) -> bool:
    """Whether a value is of the type that an annotation says."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return True
    if origin is Callable or annotation is Callable:
        return callable(value)
    if isinstance(origin, type) and issubclass(origin, Iterable):  # any kind of sequence is as good as another
        if isinstance(value, str | bytes) or not isinstance(value, dict if origin is dict else Iterable):
            return False
        elements = value if isinstance(value, list | tuple | set) and not hasattr(origin, "__array__") else ()
        return all(_fits(each, arguments[0]) for each in elements)
    if arguments and origin is not PathLike:
        return any(_fits(value, each) for each in arguments)
    kind = origin or _NUMBERS.get(annotation, annotation) or type(None)
    return isinstance(value, kind) or kind.__name__ in {c.__name__ for c in type(value).__mro__}


def _shown(value: object) -> str:
    """A value and its type for a message."""
    return f"{printable(repr(value), _SHOWN)} ({type(value).__name__})"


def _in_words(annotation: Any) -> str:
    """What an annotation says, such as "a whole number or None"."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Callable or annotation is Callable:
        return "a function"
    if isinstance(origin, type) and issubclass(origin, Iterable) and arguments:
        if origin is dict or not isinstance(arguments[0], type):
            return "a dict" if origin is dict else "a sequence"
        return f"a sequence of {re.sub('^an? ', '', _in_words(arguments[0]))}s"
    if arguments and origin is not PathLike:
        words = [_in_words(each) for each in arguments]
        return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    kind = origin or annotation
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    return _WORDS.get(kind, f"{article} {kind.__name__}")
