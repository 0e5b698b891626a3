"""Functions whose arguments are the fields of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Spec = TypeVar("Spec")
R = TypeVar("R")


def takes(spec: Callable[P, Spec]) -> Callable[[Callable[[Spec], R]], Callable[P, R]]:
    """Decorator: a function of one object is called with the arguments that make the object, and documented so.

    Parameters
    ----------
    spec : type
        A dataclass, whose docstring ends with the section "Parameters".

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(function: Callable[[Spec], R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(spec(*args, **kwargs))

        signature = inspect.signature(spec)
        call.__signature__ = signature.replace(return_annotation=function.__annotations__["return"])  # type: ignore[attr-defined]
        what, _, section = inspect.cleandoc(function.__doc__ or "").partition("\nReturns\n")
        described = (inspect.getdoc(spec) or "").partition("\nParameters\n")[2]
        call.__doc__ = f"{what}\nParameters\n{described}\n\nReturns\n{section}"
        return call

    return decorate
