"""The package `lns` as a researcher imports it: light, complete, documented."""

import inspect
from pathlib import Path

import pytest

import lns
from tests.cli.run_program import ended

SECTIONS = ("Parameters", "Returns", "Raises")


def test_importing_lns_loads_none_of_its_packages() -> None:
    program = (
        "import sys, lns; heavy = {'numpy', 'numba', 'optuna', 'scipy', 'tqdm', 'instances', 'exact', 'tuning'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert ended("-c", program).stdout.strip() == "[]"


@pytest.mark.parametrize("name", lns.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    value = getattr(lns, name)
    text = inspect.getdoc(value) or ""
    assert len(text.splitlines()[0]) > 10
    if inspect.isfunction(value):
        arguments = inspect.signature(value).parameters
        for section in SECTIONS[: 1 + (inspect.signature(value).return_annotation not in (None, "None"))]:
            assert f"\n{section}\n{'-' * len(section)}\n" in text, f"{name} lacks the section {section}"
        for argument in arguments:
            assert argument.lstrip("*") in text, f"{name} does not describe {argument}"


def test_an_unknown_name_is_an_attribute_error_and_dir_lists_what_is_public() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        _ = lns.sovle
    assert lns.estimate.__name__ == "estimate" and dir(lns) == sorted([*lns.__all__, "__version__"])
    assert lns.__version__.count(".") == 2 and Path(lns.__file__).with_name("py.typed").exists()


def test_no_module_takes_the_place_of_a_function() -> None:
    """An import of a module sets the attribute of its name."""
    assert {path.stem for path in Path(lns.__file__).parent.iterdir()} & set(lns.__all__) == {"cells"}
