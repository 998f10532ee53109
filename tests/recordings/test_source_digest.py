"""The digest of source: what Python ignores does not count, every other change does."""

from __future__ import annotations

import pytest

from gpuguide.errors import ArgumentError
from gpuguide.recordings.source_digest import digest

SOURCE = '''"""A module."""

import math


class Point:
    """A class."""

    x: int = 1


def double(n, *, by=2):
    """A function."""
    text = f"{n!r:>{by}} {'a' + 'b'} {{}}"
    if n > 0 and text:
        return n * by  # twice
    return None


KERNEL = """
int i;  # no comment
"""
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# twice", "# two times"),
        ("A module.", "The module."),
        ("A class.", "The class."),
        ('    """A function."""\n', ""),
        ("n * by", "n  *  by"),
        ("\n\n\nKERNEL", "\n\nKERNEL"),
        ("(n, *, by=2)", "(\n    n,\n    *, by=2)"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(old: str, new: str) -> None:
    assert old in SOURCE
    assert digest(SOURCE.replace(old, new)) == digest(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("by=2", "by=3"),
        ("x: int", "x: float"),
        ("int i;", "int  i;"),
        ("# no comment", "# a comment"),
        ("'a'", "'c'"),
        ("{n!r", "{n!s"),
        ("{{}}", "{{ }}"),
        ("        return n * by  # twice\n    return None", "        return n * by\n        return None"),
        ("import math\n", ""),
    ],
)
def test_all_else_counts(old: str, new: str) -> None:
    assert old in SOURCE
    assert digest(SOURCE.replace(old, new)) != digest(SOURCE)


def test_a_text_at_the_begin_of_a_cell_counts_where_it_is_shown() -> None:
    assert digest("'shown'", docstrings=True) != digest("'another'", docstrings=True)


def test_the_digest_is_the_same_on_each_python() -> None:
    """From 3.12 on, an f-string is several tokens."""
    assert digest(SOURCE) == "c1aa14c517aafefa"


def test_what_does_not_parse_is_named() -> None:
    with pytest.raises(ArgumentError, match="cell 2 does not parse"):
        digest("x = (", "cell 2")
