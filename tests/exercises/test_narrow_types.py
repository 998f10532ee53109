"""Inputs need all the bits of their type: an answer that reads them in a narrower one is refused."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from pool_answers import judged, kernels, kinds

from gpuguide.exercises import get

NARROWER = {
    "float32": ("float16", "int32"),
    "float64": ("float32", "int64"),
    "uint8": ("int8",),
    "int16": ("int8", "uint8"),
    "int32": ("int16", "uint16", "float32"),
    "int64": ("int32", "float32", "float64"),
}
# What the statements promise fits into the narrower type, or is the same in it for all that is done.
FITS = {
    ("map", "pixels", "int8"): "only the lowest 8 bits are stored",
    ("pack_bits", "crossed", "int8"): "0 or 1",
    **dict.fromkeys((("primes_on_gpu", "numbers", kind) for kind in NARROWER["int64"]), "at most 5 million"),
    **dict.fromkeys((("divergence", "x", kind) for kind in NARROWER["int32"]), "at most 999"),
}


class Narrowed(ast.NodeTransformer):
    """Converts what is read from one array to another type."""

    def __init__(self, array: str, kind: str) -> None:
        self.array, self.kind, self.n_reads = array, kind, 0

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or ast.unparse(node.value) != self.array:
            return node
        self.n_reads += 1
        return ast.Call(ast.Attribute(ast.Name("types", ast.Load()), self.kind, ast.Load()), [node], [])


def narrowed(source: str, array: str, kind: str) -> str:
    """The source with all reads of an array converted; empty if there are none."""
    reads = Narrowed(array, kind)
    tree = reads.visit(ast.parse(source))
    return (
        f"from numba import types\n{ast.unparse(ast.fix_missing_locations(tree))}\n" if reads.n_reads else ""
    )


# Functions of the host, and types that change some of the numbers that they get.
FUNCTIONS = {
    "fill_in_either": ("a", ("float16", "float32", "int8", "int16", "int32", "int64")),
    "fill_in_dot": ("a b", ("float16", "int8", "int16", "int32", "int64")),
    "cpu_or_gpu": ("mass", ("float16", "float32", "int8", "int16", "int32", "int64")),
    "split_kernel": ("weights", ("float16", "float32", "int8", "int16", "int32", "int64")),
    "copy_and_work": ("a b", ("float16", "float32", "int8", "int16", "int32", "int64")),
}


@pytest.mark.filterwarnings("ignore:(overflow|invalid|divide):RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_narrows_what_it_gets_is_refused(name: str) -> None:
    exercise, (arrays, types) = get(name), FUNCTIONS[name]
    for array in arrays.split():
        for kind in types:
            tree = ast.parse(exercise.solution)
            (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
            function.body[:0] = ast.parse(f"{array} = {array}.astype('{kind}').astype({array}.dtype)").body
            said = judged(name, ast.unparse(tree))
            assert kinds([said])[:1] == ["wrong"], (array, kind, said.findings)


@pytest.mark.parametrize("name", kernels())
def test_a_narrower_type_is_refused_unless_it_is_wide_enough(name: str) -> None:
    exercise = get(name)
    passing = set()
    for array, contents in next(iter(exercise.task.calls())).arguments.items():
        for kind in NARROWER.get(str(getattr(contents, "dtype", "")), ()) if np.ndim(contents) else ():
            source = narrowed(exercise.solution, array, kind)
            if source and not kinds([judged(name, source)]):
                passing.add((name, array, kind))
    assert passing == {each for each in FITS if each[0] == name}
