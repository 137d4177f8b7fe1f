"""Every public name has a numpydoc docstring: the sections that apply, and the real parameters."""

import enum
import inspect
import re
from typing import Any

import pytest

import gameproof as gp

UNDERLINED = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .+)?$", re.MULTILINE)


def sections(docstring: str) -> dict[str, str]:
    """The sections of a numpydoc docstring by title; the text before the first one is ""."""
    parts = UNDERLINED.split(inspect.cleandoc(docstring))
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def parameters(thing: Any) -> list[str]:
    """Names of the parameters of a function or class, with stars."""
    if isinstance(thing, type):
        if issubclass(thing, enum.Enum) or thing.__init__ in (object.__init__, Exception.__init__):
            return []
        if issubclass(thing, BaseException) and "__init__" not in vars(thing):
            return []
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(thing).parameters.values()
    return [stars.get(each.kind, "") + each.name for each in found]


def returns_something(thing: Any) -> bool:
    """Whether a function is annotated to return anything but None."""
    return inspect.signature(thing).return_annotation not in (None, "None")


def complaints(thing: Any) -> list[str]:
    """One sentence for each thing that is missing from a docstring."""
    docstring = vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
    if not docstring:
        return ["there is no docstring"]
    found = sections(docstring)
    wrong = [] if found[""].strip() else ["there is no summary"]
    expected = parameters(thing)
    listed = PARAMETER.findall(found.get("Parameters", ""))
    named = [name for line in listed for name in line.split(", ")]
    # What a user never constructs may describe its attributes instead.
    if named != expected and not (isinstance(thing, type) and "Attributes" in found):
        wrong.append(f"Parameters are {named}, and the signature has {expected}")
    if not isinstance(thing, type) and returns_something(thing) and "Returns" not in found:
        wrong.append("Returns is missing")
    if ">>> " not in found.get("Examples", ""):
        wrong.append("Examples is missing")
    return wrong


DOCUMENTED = [name for name in gp.__all__ if not inspect.ismodule(getattr(gp, name))]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_public_name_has_the_numpydoc_sections_that_apply(name: str) -> None:
    assert complaints(getattr(gp, name)) == []


# --- the check itself


def complete(a: int, *rest: int, **more: int) -> int:
    """Adds numbers.

    Parameters
    ----------
    a : int
        The first.
    *rest : int
        The others.
    **more : int
        Those with names.

    Returns
    -------
    int
        The sum.

    Examples
    --------
    >>> complete(1, 2)
    3
    """
    return a + sum(rest) + sum(more.values())


def without_sections(a: int) -> int:
    """Adds nothing."""
    return a


def without_arguments() -> None:
    """Does nothing.

    Examples
    --------
    >>> without_arguments()
    """


class Grouped:
    """Two parameters in one line.

    Parameters
    ----------
    a, b : int
        Numbers.

    Examples
    --------
    >>> grouped = Grouped(1, 2)
    """

    def __init__(self, a: int, b: int) -> None:
        self.sum = a + b


class Inherited(Grouped):
    pass


@pytest.mark.parametrize("thing", [complete, without_arguments, Grouped])
def test_complete_docstring_passes(thing: Any) -> None:
    assert complaints(thing) == []


def test_missing_sections_are_found() -> None:
    assert complaints(without_sections) == [
        "Parameters are [], and the signature has ['a']",
        "Returns is missing",
        "Examples is missing",
    ]
    assert complaints(Inherited) == ["there is no docstring"]
