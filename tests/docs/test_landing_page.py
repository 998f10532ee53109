"""The landing page: its two first programs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")


def programs():
    """The two programs, without their options."""
    blocks = re.findall(r"```\{code-block\} python\n(.*?)```", TEXT, re.DOTALL)
    return [re.sub(r"^:.*\n", "", block, flags=re.MULTILINE).strip() for block in blocks]


def shown():
    (block,) = re.findall(r"```\{code-block\} none\n(.*?)```", TEXT, re.DOTALL)
    return re.sub(r"^:.*\n", "", block, flags=re.MULTILINE).strip()


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_only_the_name_of_the_module_changes():
    numpy, cupy = programs()
    assert len(numpy.splitlines()) == len(cupy.splitlines()) == 6
    assert numpy.replace("numpy as np", "cupy as cp").replace("np.", "cp.") == cupy
    changed = [
        n
        for n, pair in enumerate(zip(*(each.splitlines() for each in (numpy, cupy)), strict=True), 1)
        if len({*pair}) > 1
    ]
    assert f":emphasize-lines: {','.join(map(str, changed))}\n" in TEXT


def test_numpy_prints_what_is_shown():
    assert run(programs()[0]) == shown()


@pytest.mark.gpu
@pytest.mark.slow
def test_cupy_prints_what_is_shown():
    assert run(programs()[1]) == shown()
