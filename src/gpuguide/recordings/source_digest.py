"""A digest of what Python source says to Python: without comments, docstrings and layout."""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import tokenize
from collections.abc import Iterator

from gpuguide.errors import ArgumentError

__all__ = ["digest"]

_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_LAYOUT = {tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE}


@functools.lru_cache(maxsize=1024)
def digest(source: str, what: str = "the source", *, docstrings: bool = False) -> str:
    """Digest source: the same on each supported Python, since it is the text that counts and not the tree.

    Where it does not parse, ArgumentError names `what`.

    >>> digest("x = 1  # one") == digest("x  =  1") != digest("x = 1.0")
    True
    """
    try:
        starts = set() if docstrings else set(_docstrings(source))
        words = "\0".join(_words(source, starts))
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        raise ArgumentError(f"{what} does not parse: {error}") from None
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def _docstrings(source: str) -> Iterator[tuple[int, int]]:
    owners = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, owners) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0].lineno, node.body[0].col_offset


def _words(source: str, docstrings: set[tuple[int, int]]) -> Iterator[str]:
    lines = source.splitlines(keepends=True)
    in_docstring, depth, begin = False, 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind in ("FSTRING_START", "TSTRING_START"):
            begin, depth = (begin if depth else token.start), depth + 1
        elif kind in ("FSTRING_END", "TSTRING_END"):
            depth -= 1
            if not depth:
                # From Python 3.12 on an f-string is several tokens; its text is what 3.11 gives as one.
                yield _between(lines, begin, token.end)
        elif depth or token.type in _SKIPPED:
            continue
        elif token.start in docstrings:
            in_docstring = True
        elif in_docstring and token.type == tokenize.NEWLINE:
            in_docstring = False
        else:
            yield kind if token.type in _LAYOUT else token.string


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    inside = lines[start[0] : end[0] - 1]
    return "".join([lines[start[0] - 1][start[1] :], *inside, lines[end[0] - 1][: end[1]]])
