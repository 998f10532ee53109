"""A page written in MyST as the contract sees it: title, prose, roles, directives and code."""

import pytest

from gpuguide_docs.contract.page_source import read_myst

TEXT = """\
---
orphan: true
---

# Install

How do you
get it?

One line: {term}`warps <warp>` and *em* [a link](x.md), `code` left out.

- an item {measured}`a[b].time`

```{install-command} cuda13
```

:::{note}
:class: quiet
Beware of {doc}`/glossary`.
:::

```python
x = 1
```

::::{tab-set}
:::{tab-item} Linux
Do this.
```console
$ ls
```
:::
::::

## Two

```{question} Why so?
Because {rule}`3 s`.
```

```{exercise} guard
```

```{code-cell}
:tags: [quiet]
y = 2
```
"""


@pytest.fixture
def source(tmp_path):
    (tmp_path / "page.md").write_text(TEXT, encoding="utf-8")
    return read_myst(tmp_path / "page.md")


def test_title_question_and_headings(source):
    assert (source.title, source.question) == ("Install", "How do you get it?")
    assert [(heading.text, heading.line) for heading in source.headings] == [("Two", 35)]


def test_prose_is_what_readers_see_without_code(source):
    assert [(paragraph.text, paragraph.line) for paragraph in source.paragraphs] == [
        ("One line: warps and em a link, left out.", 10),
        ("an item N", 12),
        ("Beware of /glossary.", 19),
        ("Linux", 27),
        ("Do this.", 28),
        ("Why so?", 37),
        ("Because N.", 38),
    ]
    assert source.n_words == 22


def test_roles_and_directives_have_their_lines(source):
    assert [(role.name, role.target, role.line) for role in source.roles] == [
        ("term", "warp", 10),
        ("measured", "a[b].time", 12),
        ("doc", "/glossary", 19),
        ("rule", "3 s", 38),
    ]
    assert [(use.name, use.argument, use.line) for use in source.directives] == [
        ("install-command", "cuda13", 14),
        ("note", "", 17),
        ("tab-set", "", 26),
        ("tab-item", "Linux", 27),
        ("question", "Why so?", 37),
        ("exercise", "guard", 41),
        ("code-cell", "", 44),
    ]
    (note,) = source.directive("note")
    assert note.options == {"class": "quiet"}


def test_code_is_kept_where_it_is_python(source):
    assert [(use.cell.content.strip(), use.cell.lineno) for use in source.code] == [
        ("x = 1", 23),
        ("y = 2", 45),
    ]
    assert source.order.count("code") == 4


def test_lines_to_search_for_typed_figures_hold_no_role(source):
    assert (38, "Because  .") in source.figures
    assert not any("$ ls" in line for _, line in source.figures)
