"""Typed figures: the lines that must be caught and those that must pass."""

from pathlib import Path

import pytest

from gpuguide_docs.lint.figures import find_typed_figures
from gpuguide_docs.lint.prose import markdown_paragraphs
from gpuguide_docs.lint.rules import typed_figures

HERE = Path(__file__).parent
CAUGHT = [
    line.split(" | ", 1) for line in (HERE / "typed_figures_caught.txt").read_text("utf-8").splitlines()
]
PASSED = (HERE / "typed_figures_passed.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize(("kind", "line"), CAUGHT, ids=[line for _, line in CAUGHT])
def test_a_typed_figure_is_caught(kind, line):
    assert [found.kind for found in find_typed_figures(line)] == [kind]


@pytest.mark.parametrize("line", PASSED, ids=PASSED)
def test_an_honest_line_passes(line):
    assert find_typed_figures(line) == []


def test_the_tables_are_long_enough():
    assert len(CAUGHT) >= 40
    assert len(PASSED) >= 40


def test_a_figure_may_stand_on_two_lines():
    (found,) = find_typed_figures("It was soon\n\ntwice as\nfast.", 3)
    assert (found.line, found.text) == (5, "twice as fast")


MARKDOWN = """# Title

Takes {measured}`page:fact` and `3 ms`, [5 ms](https://a.b), :measured:`page:study[a,
2**4].time` and ``7 ms``.

```python
sleep  # 7 ms
```

Typed: 9 ms.
"""


def test_markdown_is_read_without_code_and_roles():
    problems = list(typed_figures(markdown_paragraphs(MARKDOWN)))
    assert [problem.line for problem in problems] == [3, 10]
    assert "typed time '5 ms'; write the role measured" in problems[0].message
