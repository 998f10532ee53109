"""A later kernel of a ladder: the changed lines are marked, and the others are folded."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["changed_block", "changed_lines", "changed_node", "definition_in", "functions_in", "setup"]

_SHORT = 15
# A line above and below shows where a change is.
_CONTEXT = 1
_PRE = re.compile(r"(?P<before>.*?<pre>)(?P<code>.*)\n(?P<after></pre>.*)", re.DOTALL)


class changed_block(nodes.literal_block):  # noqa: N801 (docutils names its nodes so)
    """Code with the numbers of the lines that changed and that stand open (``changed``, ``open``), from 1."""


def functions_in(code: str) -> dict[str, ast.FunctionDef]:
    """Give the functions that a cell defines, by name."""
    try:
        return {node.name: node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)}
    except SyntaxError:
        return {}


def definition_in(code: str, name: str) -> str:
    """Cut a function with its decorators out of a cell; empty where it defines none of this name."""
    found = functions_in(code).get(name)
    if found is None:
        return ""
    first = min([found.lineno, *(each.lineno for each in found.decorator_list)])
    return "\n".join(code.splitlines()[first - 1 : found.end_lineno])


def changed_lines(new: str, old: str) -> list[int]:
    r"""Give the lines of a kernel that the kernel above does not have; its name may differ."""
    lines, former = _unnamed(new), _unnamed(old)
    blocks = SequenceMatcher(None, former, lines, autojunk=False).get_matching_blocks()
    same = {block.b + step for block in blocks for step in range(block.size)}
    changed = [
        number for number, line in enumerate(lines, start=1) if number - 1 not in same and line.strip()
    ]
    n_lines = sum(bool(line.strip()) for line in lines)
    return changed if n_lines > _SHORT and 2 * len(changed) < n_lines else []


def _unnamed(code: str) -> list[str]:
    name = re.search(r"^def (\w+)", code, re.MULTILINE)
    plain = re.sub(rf"\b{name[1]}\b", "_", code) if name else code
    return [line.rstrip() for line in plain.splitlines()]


def changed_node(code: str, kernel: str, above: str) -> changed_block | None:
    """Give the code of a rung with its changed lines marked."""
    changed = changed_lines(kernel, above)
    if not changed:
        return None
    lines = kernel.splitlines()
    before = code[: code.index(kernel)].count("\n")
    near = {each + step for each in changed for step in range(-_CONTEXT, _CONTEXT + 1)}
    head = range(1, _first_line_inside(kernel))
    own = range(before + 1, before + len(lines) + 1)
    shown = {before + number for number in near.union(head)}
    # Replacing a single line by a mark would save nothing.
    shown |= {number for number in own if {number - 1, number + 1} <= shown}
    node = changed_block(code, code, language="python")
    node["changed"] = [before + number for number in changed]
    node["open"] = [
        number for number in range(1, code.count("\n") + 2) if number not in own or number in shown
    ]
    return node


def _first_line_inside(kernel: str) -> int:
    """Give the line below a function's decorators and arguments."""
    (function,) = ast.parse(kernel).body
    return function.body[0].lineno if isinstance(function, ast.FunctionDef) else 1


def _marked(lines: Sequence[str], changed: Sequence[int], shown: Sequence[int]) -> str:
    """Wrap the lines of highlighted code; all of it stays there for the copy button."""

    def kind(number: int) -> str:
        return "hll" if number in changed else "" if number in shown else "gg-same"

    written = []
    for name, group in groupby(range(1, len(lines) + 1), key=kind):
        text = "".join(f"{lines[number - 1]}\n" for number in group)
        if name == "gg-same":
            text += '</span><span class="gg-left-out" aria-hidden="true">'
        written.append(f'<span class="{name}">{text}</span>' if name else text)
    return "".join(written)


def _visit_html(writer: Any, node: changed_block) -> None:
    code = node.astext()
    html = writer.highlighter.highlight_block(code, node["language"], location=node)
    found = _PRE.match(html)
    lines = found["code"].split("\n") if found else []
    # Pygments ends every span with its line.
    if found is None or len(lines) != len(code.split("\n")):
        raise ValueError(f"the highlighted lines of {code[:60]!r} are not those of its code")
    marked = _marked(lines, node["changed"], node["open"])
    summary = f"<summary>All {len(lines)} lines</summary>"
    writer.body += [
        writer.starttag(node, "div", CLASS=f"highlight-{node['language']} notranslate gg-changed"),
        f"{found['before']}{marked}{found['after']}</div>\n",
        f'<details class="gg-fold gg-whole">{summary}</details>\n',
    ]
    raise nodes.SkipNode


def _visit_plain(writer: Any, node: changed_block) -> None:
    writer.visit_literal_block(node)


def _depart_plain(writer: Any, node: changed_block) -> None:
    writer.depart_literal_block(node)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the node."""
    plain = (_visit_plain, _depart_plain)
    app.add_node(changed_block, html=(_visit_html, None), latex=plain, text=plain, man=plain, texinfo=plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
