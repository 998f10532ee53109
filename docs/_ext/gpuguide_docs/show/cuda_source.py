"""Highlights the CUDA C++ that stands in a Python string as CUDA C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pygments.lexers import get_lexer_by_name
from pygments.lexers.c_like import CudaLexer
from pygments.lexers.python import PythonLexer
from pygments.token import Error, Text, _TokenType
from sphinx_gallery import _doctree_links

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from sphinx.application import Sphinx

__all__ = ["PythonWithCudaLexer", "lexer_of", "setup"]

# By its text and not its syntax tree, because a page also shows lines that are not a whole program.
_SOURCE = re.compile(
    r"""
    (?: \b (?: \w+_ )? source \s* (?: : \s* str \s* )? =            # SUM_SOURCE = r'''...'''
      | \b raw_? (?: kernel | module ) \( \s* (?: code \s* = )? )   # cp.RawKernel(r'''...'''
    \s* r? (?P<quotes> \"{3} | '{3} ) (?P<code> .*? ) (?P=quotes)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)

# A source may be Python as well, for example in an exercise.
_IS_CUDA = re.compile(r"\b__(global|device)__\b|^\s*#\s*(include|define)\b", re.MULTILINE)

_Token = tuple[int, _TokenType, str]


class PythonWithCudaLexer(PythonLexer):  # type: ignore[misc]
    """Python; a kernel in a string is CUDA C++ if its name ends with ``source`` or ``RawKernel`` takes it."""

    name = "Python with CUDA C++"
    aliases = ()

    def get_tokens_unprocessed(self, text: str, *args: Any) -> Iterator[_Token]:
        """Give Python's tokens, and those of CUDA C++ in the place of such strings."""
        found = [each for each in _SOURCE.finditer(text) if _IS_CUDA.search(each["code"])]
        sources = [each.span("code") for each in found]
        tokens = super().get_tokens_unprocessed(text, *args)
        return _with_sources(text, tokens, sources) if sources else tokens


def _with_sources(text: str, tokens: Iterator[_Token], sources: list[tuple[int, int]]) -> Iterator[_Token]:
    waiting = iter([*sources, (len(text), len(text))])
    start, end = next(waiting)
    for index, kind, value in tokens:
        position, stop = index, index + len(value)
        while stop > start:
            if position < start:
                yield position, kind, text[position:start]
                position = start
            if position == start:
                yield from _cuda(text[start:end], start)
            if stop < end:
                position = stop
                break
            position = end
            start, end = next(waiting)
        if position < stop:
            yield position, kind, text[position:stop]


def _cuda(code: str, offset: int) -> Iterator[_Token]:
    for index, kind, value in CudaLexer().get_tokens_unprocessed(code):
        # What this lexer does not know is not a mistake in the Python around it.
        yield index + offset, Text if kind in Error else kind, value


def lexer_of(name: str, **options: Any) -> Lexer:
    """Give the lexer of a language; for Python, this one."""
    if name.lower() == "python":
        return PythonWithCudaLexer(**options)
    found: Lexer = get_lexer_by_name(name, **options)
    return found


def setup(app: Sphinx) -> dict[str, Any]:
    """Take the place of Python's lexer, under the name of sphinx-gallery, too."""
    for name in ("python", "Python"):
        app.add_lexer(name, PythonWithCudaLexer)
    # Where sphinx-gallery links names in code, it cuts the code into tokens by itself.
    _doctree_links.get_lexer_by_name = lexer_of
    # Last: it makes a node of each word of code, and all transforms after it walk through those.
    _doctree_links.CodeLinksTransform.default_priority = 900
    return {"parallel_read_safe": True, "parallel_write_safe": True}
