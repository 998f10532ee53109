"""Prose of a text: what is left when code, directives, roles and literals are taken out."""

from __future__ import annotations

import re

__all__ = ["prose_lines"]

_ROLE_RST = re.compile(r":[A-Za-z][\w:+.-]*:`[^`]*`")
_ROLE_MYST = re.compile(r"\{[A-Za-z][\w:+.-]*\}`[^`]*`")
_LITERAL = re.compile(r"``[^`]*(?:`[^`]+)*``|`[^`\n]+`(?!_)")
_LINK_RST = re.compile(r"`([^`<]+?)\s*<[^>]*>`__?")
_LINK_MD = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_DIRECTIVE = re.compile(r"^(\s*)\.\. ([\w:-]+)::")
_OPTION = re.compile(r"^\s*:[\w-]+:(\s|$)")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,}|:{3,})\s*(\{[\w:-]+\})?")
_PROSE = """admonition attention caution container danger drawing dropdown error finding grid
grid-item grid-item-card hint important list-table note question seealso solution tab-item tab-set tip topic
warning"""
#: Directives whose content is prose; the content of all others is taken out.
PROSE_DIRECTIVES = frozenset(_PROSE.split())


def prose_lines(text: str, markup: str = "rst") -> list[tuple[int, str]]:
    r"""Lines of prose in a text.

    Parameters
    ----------
    text : str
        reStructuredText or Markdown with MyST's roles and directives.
    markup : {"rst", "md"}
        Which of them.

    Returns
    -------
    list of (int, str)
        Line number from 1 and the line, with roles, literals and addresses taken out.

    Examples
    --------
    >>> prose_lines("Takes :measured:`f` on ``x``.\n\n.. code-block:: c\n\n   int x;\n")
    [(1, 'Takes   on  .')]
    """
    kept = (_rst(text) if markup == "rst" else _markdown(text)) or [(1, "")]
    # A role may run over the end of a line, so roles are taken out of paragraphs, not of lines.
    cleaned = _inline("\n".join(line for _, line in kept), markup).split("\n")
    return [(number, line) for (number, _), line in zip(kept, cleaned, strict=True) if line.strip()]


def _inline(text: str, markup: str) -> str:
    def blank(match: re.Match[str]) -> str:
        return " " + "\n" * match.group().count("\n")

    def words(match: re.Match[str]) -> str:
        missing = match.group().count("\n") - match[1].count("\n")
        return match[1] + "\n" * missing

    if markup == "rst":
        text = _LINK_RST.sub(words, _ROLE_RST.sub(blank, text))
    else:
        text = _LINK_MD.sub(words, _ROLE_MYST.sub(blank, text))
    return _LITERAL.sub(blank, text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _rst(text: str) -> list[tuple[int, str]]:
    kept: list[tuple[int, str]] = []
    skip_below: int | None = None  # lines indented deeper than this belong to code
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            kept.append((number, ""))
            continue
        if skip_below is not None and _indent(line) > skip_below:
            continue
        skip_below = None
        directive = _DIRECTIVE.match(line)
        if directive and directive[2] in PROSE_DIRECTIVES:
            kept.append((number, line[directive.end() :] if directive[2] != "drawing" else ""))
        elif directive or line.lstrip().startswith(".. "):
            skip_below = _indent(line)
        elif not _OPTION.match(line):
            kept.append((number, line))
            if line.rstrip().endswith("::"):
                skip_below = _indent(line)
    return kept


def _markdown(text: str) -> list[tuple[int, str]]:
    kept: list[tuple[int, str]] = []
    code_fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if code_fence:
            if line.strip() == code_fence:
                code_fence = ""
            continue
        if fence:
            name = (fence[2] or "").strip("{}")
            if name in PROSE_DIRECTIVES:
                kept.append((number, line[fence.end() :]))
            elif fence[1][0] != ":" or name:
                code_fence = fence[1]
            continue
        if not _OPTION.match(line):
            kept.append((number, line))
    return kept
