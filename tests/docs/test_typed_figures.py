"""Typed figures: the lines that must be caught and those that must pass."""

from pathlib import Path

import pytest

from gpuguide_docs.contract.page_source import prose_lines
from gpuguide_docs.contract.typed_figures import find_typed_figures

HERE = Path(__file__).parent
CAUGHT = [
    line.split(" | ", 1) for line in (HERE / "typed_figures_caught.txt").read_text("utf-8").splitlines()
]
PASSED = (HERE / "typed_figures_passed.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize(("kind", "line"), CAUGHT, ids=[line for _, line in CAUGHT])
def test_a_typed_figure_is_caught(kind, line):
    assert [found.kind for found in find_typed_figures([(1, line)])] == [kind]


@pytest.mark.parametrize("line", PASSED, ids=PASSED)
def test_an_honest_line_passes(line):
    assert find_typed_figures([(1, line)]) == []


def test_the_tables_are_long_enough():
    assert len(CAUGHT) >= 40
    assert len(PASSED) >= 40


RST = """
Title 3 ms
==========

.. rst-class:: part-bare 3 ms

Takes :measured:`page:study[a,
2**4].time` and ``3 ms`` in code, `5 ms <https://a.b>`_ in a link.

.. code-block:: python

   sleep  # 7 ms

.. finding::

   Typed: 9 ms.

Literal::

   11 ms

.. drawing:: host
   :width: 3 ms

   Thirteen boxes, 13 ms.
"""


def test_rst_keeps_prose_and_drops_code_roles_and_options():
    found = find_typed_figures(prose_lines(RST, "rst"))
    assert [(figure.line, figure.text) for figure in found] == [
        (2, "3 ms"),
        (8, "5 ms"),
        (16, "9 ms"),
        (25, "13 ms"),
    ]


MARKDOWN = """# Title

Takes {measured}`page:fact` and `3 ms`, [5 ms](https://a.b).

```python
sleep  # 7 ms
```

:::{note}
Typed: 9 ms.
:::

```{code-cell}
11 ms
```

{rule}`0.2 s` is the budget.
"""


def test_markdown_keeps_prose_and_drops_code_and_roles():
    found = find_typed_figures(prose_lines(MARKDOWN, "md"))
    assert [(figure.line, figure.text) for figure in found] == [(3, "5 ms"), (10, "9 ms")]
    assert str(found[0]) == "line 3: typed time '5 ms'; use the role measured or claimed"
