"""Import this, and Sphinx has done what its first build takes: patterns, lexers and checks are compiled."""

import tempfile
from pathlib import Path

from matplotlib import pyplot as plt
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

PAGE = """\
.. index:: pair: first; build

First
=====

.. contents::

.. _place:

A *text* with ``code``, **strong**, :math:`x`, :ref:`place`, :doc:`other`, `a link <https://example.org>`_,
:download:`conf.txt`, :py:func:`f`, :term:`word` and a note [#]_.

- One
- Two

.. note:: Beware.

.. figure:: picture.svg
   :alt: A line.

   Seen.

.. glossary::

   word
      Said.

.. py:function:: f(x)

   Do it.

=== ===
one two
=== ===
1   2
=== ===

.. list-table::
   :header-rows: 1

   * - a
   * - b

.. code-block:: python

   def f(x):
       '''Add.'''
       return x + 1.5 if x else f"{x!r}"  # one

.. code-block:: none

   1

.. container:: some

   .. raw:: html

      <p></p>

.. toctree::

   other
   mark

.. [#] There.
"""
OTHER = """\
---
file_format: mystnb
---
# Mark

A *text* with `code` and {term}`word`.

```{note}
Beware.
```

| a | b |
| - | - |
| 1 | 2 |
"""


def build(folder: Path) -> None:
    docs = folder / "docs"
    docs.mkdir()
    figure, axes = plt.subplots()
    axes.loglog([1, 10], [1, 10], label="line")
    axes.legend()
    axes.set_title("Lines")
    figure.savefig(docs / "picture.svg")
    plt.close(figure)
    files = {"index.rst": PAGE, "other.rst": "Other\n=====\n\n>>> 1\n1\n", "mark.md": OTHER, "conf.txt": ""}
    for name, text in files.items():
        (docs / name).write_text(text, encoding="utf-8")
    conf = {
        "extensions": ["myst_nb", "sphinx_design", "sphinx.ext.autodoc", "sphinx.ext.mathjax"],
        "html_theme": "basic",
        "nb_execution_mode": "off",
        # Sphinx would add what extensions read to its own default, and the next build would find it there.
        "source_suffix": {".rst": "restructuredtext", ".md": "myst-nb"},
    }
    with patch_docutils(), docutils_namespace():
        app = Sphinx(docs, None, folder / "html", folder / "doctrees", "html", conf, None, None)
        app.build()
    assert app.statuscode == 0


new_notebook(cells=[new_markdown_cell("a"), new_code_cell("b")])
with tempfile.TemporaryDirectory() as here:
    build(Path(here))
