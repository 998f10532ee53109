"""The examples in the stand-ins' docstrings."""

import doctest
import importlib
import pkgutil

import pytest

from gpuguide.exercises import stand_ins

NAMES = [module.name for module in pkgutil.iter_modules(stand_ins.__path__)]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_give_what_they_say(name):
    ran = doctest.testmod(importlib.import_module(f"gpuguide.exercises.stand_ins.{name}"))
    assert ran.attempted or name in ("cupy_names", "standard_names")
    assert not ran.failed
