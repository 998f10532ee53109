"""References to measured numbers: the grammar of the role ``measured``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Literal

from gpuguide.errors import ArgumentError, unknown
from gpuguide.results.results import QUANTITIES

__all__ = ["Reference", "parse_reference", "parse_size"]

_SIDES = ("slower_at", "faster_at")
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_HINT = "write page:study[variant, 2**24].time, .speedup(baseline), page:study.crossover(a, b) or page:fact"
_PAGE = re.compile(rf"(?:(?P<page>{_WORD})\s*:\s*)?(?P<rest>[^:]+)")
_CELL = re.compile(
    rf"(?P<study>{_WORD})\s*\[\s*(?P<variant>{_WORD})\s*,\s*(?P<size>[^\]]+)\]\s*\.\s*(?P<quantity>{_WORD})"
    rf"\s*(?:\(\s*(?P<baseline>{_WORD})\s*\))?"
)
_CROSSOVER = re.compile(
    rf"(?P<study>{_WORD})\s*\.\s*crossover\s*\(\s*(?P<a>{_WORD})\s*,\s*(?P<b>{_WORD})\s*\)"
    rf"\s*(?:\.\s*(?P<side>{_WORD}))?"
)


@dataclass(frozen=True)
class Reference:
    """What stands inside the role ``measured``.

    Attributes
    ----------
    page : str
        Name of the page; empty for the page that the reference stands on.
    kind : {"cell", "crossover", "fact"}
        A quantity of one variant at one size, where one variant overtakes another, or a single fact.
    name : str
        Name of the study or the fact.
    variant, quantity, baseline : str
        Of a cell; `baseline` only with the quantity ``speedup``.
    size : int
        Of a cell; 0 otherwise.
    pair : tuple of str
        The two variants of a crossover.
    side : str
        ``""`` for the whole bracket, else ``"slower_at"`` or ``"faster_at"``.
    """

    page: str
    kind: Literal["cell", "crossover", "fact"]
    name: str
    variant: str = ""
    size: int = 0
    quantity: str = ""
    baseline: str = ""
    pair: tuple[str, str] = ("", "")
    side: str = ""

    @property
    def metric(self) -> str:
        """What is counted as one metric by the page contract."""
        return self.quantity if self.kind == "cell" else self.kind


def parse_reference(text: str) -> Reference:
    """Read a reference.

    Parameters
    ----------
    text : str
        For example ``"sort_search:sort[cupy, 4096**2].speedup(numpy)"``.

    Returns
    -------
    Reference
        The parts; nothing is looked up yet.

    Raises
    ------
    ArgumentError
        If the text does not follow the grammar; the message shows it.
    """
    outer = _PAGE.fullmatch(text.strip())
    if outer is None:
        raise ArgumentError(f"{text!r} is not a reference: {_HINT}.")
    page, rest = outer["page"] or "", outer["rest"].strip()
    if match := _CELL.fullmatch(rest):
        return _cell(page, match, text)
    if match := _CROSSOVER.fullmatch(rest):
        side = match["side"] or ""
        if side and side not in _SIDES:
            raise unknown("side of a crossover", side, _SIDES)
        return Reference(page, "crossover", match["study"], pair=(match["a"], match["b"]), side=side)
    if re.fullmatch(_WORD, rest):
        return Reference(page, "fact", rest)
    raise ArgumentError(f"{text!r} is not a reference: {_HINT}.")


def _cell(page: str, match: re.Match[str], text: str) -> Reference:
    quantity, baseline = match["quantity"], match["baseline"] or ""
    if quantity not in QUANTITIES:
        raise unknown("quantity", quantity, QUANTITIES)
    if (quantity == "speedup") != bool(baseline):
        wanted = "needs a baseline" if quantity == "speedup" else "takes no baseline; only speedup does"
        raise ArgumentError(f"{text!r}: {quantity} {wanted}, as in .speedup(numpy).")
    size = parse_size(match["size"])
    return Reference(page, "cell", match["study"], match["variant"], size, quantity, baseline)


def parse_size(text: str) -> int:
    """Work out a size written as an integer expression.

    Parameters
    ----------
    text : str
        Integers joined by ``+``, ``-``, ``*`` and ``**``.

    Returns
    -------
    int
        Its value.

    Raises
    ------
    ArgumentError
        If it holds anything else or is not positive.

    Examples
    --------
    >>> parse_size("4096**2"), parse_size("10**6"), parse_size("65_536")
    (16777216, 1000000, 65536)
    """
    try:
        size = _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        size = 0
    if not 0 < size < 2**63:
        raise ArgumentError(f"{text!r} is not a size: write an integer such as 2**24, 10**6 or 65_536.")
    return size


def _evaluate(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if not isinstance(node, ast.BinOp):
        raise ValueError(node)
    left, right = _evaluate(node.left), _evaluate(node.right)
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult() if max(left, right) < 2**64:
            return left * right
        case ast.Pow() if 0 <= right < 64 and left < 2**32:
            return int(left**right)
    raise ValueError(node)
