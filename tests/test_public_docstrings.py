"""The docstrings of the public names, as numpydoc wants them."""

import inspect

import pytest
from numpydoc.validate import validate

import gpuguide as gg

# What a short docstring leaves out: a section on what the summary or the annotation says already.
LEFT_OUT = {"ES01", "EX01", "SA01", "GL01", "RT03", "PR01", "PR02", "PR04", "PR07", "RT01", "SS05", "YD01"}


def public_names():
    for name in gg.__all__:
        yield f"gpuguide.{name}"
        value = getattr(gg, name)
        for method, member in vars(value).items() if inspect.isclass(value) else ():
            if inspect.isfunction(member) and not method.startswith("_"):
                yield f"gpuguide.{name}.{method}"


@pytest.mark.parametrize("name", list(public_names()))
def test_a_public_docstring_is_whole(name):
    errors = [error for error in validate(name)["errors"] if error[0] not in LEFT_OUT]
    assert errors == []
