"""Mutants: copies of a right answer that hold one mistake each, made along its syntax tree.

An operator looks at one node and yields texts that could stand there instead. Texts are put in place in the
source itself, so that a mutant keeps the lines and the comments of the answer that it was made from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

CONSTANT_WIDTHS = (32, 256)
CONSTANT_LENGTH = 256


@dataclass(frozen=True)
class Mutant:
    """A right answer with one mistake.

    `line` is the first one that differs, `code` how it reads now. The name is unique within the answer.
    """

    operator: str
    line: int
    code: str
    source: str

    @property
    def name(self) -> str:
        return f"{self.operator}, line {self.line}: {self.code}"


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of the functions in a source text, each source once."""
    found: dict[str, Mutant] = {}
    for node in places(ast.parse(source)):
        for operator, make in OPERATORS.items():
            for new in make(node, source):
                changed = spliced(source, node, new)
                if changed != source and changed not in found:
                    found[changed] = Mutant(operator, *first_change(source, changed), changed)
    return list(found.values())


def first_change(source: str, changed: str) -> tuple[int, str]:
    """The first line that differs, and what stands there now, without its comment."""
    pairs = zip(source.splitlines(), changed.splitlines(), strict=False)
    line, new = next((i, new) for i, (old, new) in enumerate(pairs, 1) if old != new)
    return line, new.partition("  #")[0].strip()


def places(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what can be changed, from top to bottom: statements and expressions of the functions' bodies."""
    nodes = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            body = function.body[1:] if ast.get_docstring(function) else function.body
            nodes += [node for statement in body for node in ast.walk(statement)]
    unique = {id(node): node for node in nodes if isinstance(node, ast.stmt | ast.expr)}
    yield from sorted(unique.values(), key=lambda node: (node.lineno, node.col_offset, -node.end_col_offset))


def text(source: str, node: ast.AST) -> str:
    """The source text of a node."""
    return ast.get_source_segment(source, node) or ""


def spliced(source: str, node: ast.AST, new: str) -> str:
    """Put a text in the place of a node; the sources are plain ASCII, so columns are bytes."""
    lines = source.splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    return source[:start] + new + source[end:]


# --- what one sees in a node ---------------------------------------------------------------------------


def dotted(node: ast.AST) -> str:
    """The name of `a.b.c`, or of the function that is called; empty for anything else."""
    if isinstance(node, ast.Call):
        return dotted(node.func)
    if isinstance(node, ast.Attribute):
        return f"{base}.{node.attr}" if (base := dotted(node.value)) else ""
    return node.id if isinstance(node, ast.Name) else ""


def is_barrier(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and dotted(node.value) in ("cuda.syncthreads", "cuda.syncwarp")


def is_atomic(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and dotted(node.value).startswith("cuda.atomic.")


def stores(node: ast.AST) -> bool:
    """Whether a statement stores into an array."""
    if is_atomic(node):
        return True
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return isinstance(node, ast.Assign | ast.AugAssign) and isinstance(targets[0], ast.Subscript)


def indices(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def number(node: ast.AST) -> int | None:
    """The value of an integer literal."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


# --- operators: (node, source) -> texts that could stand there -----------------------------------------


def drop_guard(node: ast.AST, _source: str) -> Iterator[str]:
    """`if condition:` becomes `if True:`; a conditional expression keeps one of its sides."""
    if isinstance(node, ast.If):
        yield with_test(node, _source, "True")
    elif isinstance(node, ast.IfExp):
        yield text(_source, node.body)
        yield text(_source, node.orelse)


def negate_guard(node: ast.AST, source: str) -> Iterator[str]:
    """`if condition:` becomes `if not (condition):`."""
    if isinstance(node, ast.If):
        yield with_test(node, source, f"not ({text(source, node.test)})")


def with_test(node: ast.If, source: str, test: str) -> str:
    """The text of an `if` with another condition."""
    whole, old = text(source, node), text(source, node.test)
    return whole.replace(old, test, 1)


def drop_barrier(node: ast.AST, _source: str) -> Iterator[str]:
    """No thread waits."""
    if is_barrier(node):
        yield "pass"


def barrier_in_branch(node: ast.AST, source: str) -> Iterator[str]:
    """Some threads never come to the barrier."""
    if is_barrier(node):
        yield f"if cuda.threadIdx.x > 0: {text(source, node)}"


def return_before_barrier(node: ast.AST, source: str) -> Iterator[str]:
    """Threads without an element leave before the barrier."""
    if is_barrier(node):
        first = (
            next(n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)).args.args[0].arg
        )
        indent = "\n" + " " * node.col_offset
        yield f"if cuda.grid(1) >= {first}.size: return{indent}{text(source, node)}"


def plain_for_atomic(node: ast.AST, source: str) -> Iterator[str]:
    """`cuda.atomic.add(a, i, v)` becomes `a[i] += v`."""
    if is_atomic(node) and dotted(node.value) == "cuda.atomic.add":
        array, index, value = (text(source, argument) for argument in node.value.args)
        yield f"{array}[{index}] += {value}"


def no_write(node: ast.AST, _source: str) -> Iterator[str]:
    """What should be stored is not."""
    if stores(node):
        yield "pass"


def drop_statement(node: ast.AST, _source: str) -> Iterator[str]:
    """A statement that is neither a barrier nor a store is missing."""
    simple = ast.Assign | ast.AugAssign | ast.Expr | ast.Break | ast.Continue | ast.Return | ast.Delete
    if isinstance(node, simple) and not is_barrier(node) and not stores(node):
        yield "pass"


def overwrite_input(node: ast.AST, source: str) -> Iterator[str]:
    """After an element of an array has been read, it is changed."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Load):
                yield f"{text(source, node)}; {text(source, inner)} += 1"


def comparison(node: ast.AST, source: str) -> Iterator[str]:
    """`<` becomes `<=`, `>` becomes `>=`, `==` becomes `!=`, and back."""
    if not isinstance(node, ast.Compare):
        return
    other = {"Lt": "<=", "LtE": "<", "Gt": ">=", "GtE": ">", "Eq": "!=", "NotEq": "=="}
    operands = [node.left, *node.comparators]
    for op, (left, right) in zip(node.ops, pairwise(operands), strict=True):
        if new := other.get(type(op).__name__):
            before = text(source, node)[: left.end_col_offset - node.col_offset]
            after = text(source, node)[right.col_offset - node.col_offset :]
            yield f"{before} {new} {after}"


def boolean(node: ast.AST, source: str) -> Iterator[str]:
    """One part of `a and b` is forgotten, or `and` becomes `or`."""
    if isinstance(node, ast.BoolOp):
        parts = [text(source, value) for value in node.values]
        words = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
        for i in range(len(parts)):
            yield words[0].join(parts[:i] + parts[i + 1 :])
        yield words[1].join(parts)


def swap_axes(node: ast.AST, source: str) -> Iterator[str]:
    """Row and column, x and y, or the two lengths of a shape change places."""
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store) and len(node.elts) == 2:
        yield f"{text(source, node.elts[1])}, {text(source, node.elts[0])}"
    elif isinstance(node, ast.Subscript) and len(indices(node)) == 2:
        first, second = (text(source, index) for index in indices(node))
        yield f"{text(source, node.value)}[{second}, {first}]"
    elif isinstance(node, ast.Subscript) and dotted(node.value).endswith(".shape"):
        yield f"{text(source, node.value)}[{1 - (number(node.slice) or 0)}]"
    elif isinstance(node, ast.Attribute) and node.attr in ("x", "y") and dotted(node).startswith("cuda."):
        yield f"{text(source, node.value)}.{'y' if node.attr == 'x' else 'x'}"


def constant_block(node: ast.AST, _source: str) -> Iterator[str]:
    """The number of threads in a block, or of the grid, is taken for known or left out."""
    called = f"{dotted(node)}({number(node.args[0])})" if isinstance(node, ast.Call) and node.args else ""
    if isinstance(node, ast.Attribute) and dotted(node).startswith("cuda.blockDim."):
        yield from map(str, CONSTANT_WIDTHS)
    elif called == "cuda.grid(1)":
        yield from ("cuda.threadIdx.x", "cuda.blockIdx.x")
        yield from (f"(cuda.threadIdx.x + cuda.blockIdx.x * {width})" for width in CONSTANT_WIDTHS)
    elif called == "cuda.grid(2)":
        yield "(cuda.threadIdx.x, cuda.threadIdx.y)"
        yield "(cuda.threadIdx.x + cuda.blockIdx.x * 16, cuda.threadIdx.y + cuda.blockIdx.y * 16)"
    elif called == "cuda.gridsize(1)":
        yield from ("cuda.blockDim.x", "cuda.gridDim.x", "256")


def constant_length(node: ast.AST, _source: str) -> Iterator[str]:
    """The length of an array is taken for known."""
    is_size = isinstance(node, ast.Attribute) and node.attr == "size"
    if is_size or (isinstance(node, ast.Subscript) and dotted(node.value).endswith(".shape")):
        yield str(CONSTANT_LENGTH if is_size else 32)


def off_by_one(node: ast.AST, source: str) -> Iterator[str]:
    """An index is one too large or one too small."""
    if isinstance(node, ast.Subscript) and not dotted(node.value).endswith(".shape"):
        parts = [text(source, index) for index in indices(node)]
        for i, part in enumerate(parts):
            for sign in "+-":
                new = ", ".join([*parts[:i], f"{part} {sign} 1", *parts[i + 1 :]])
                yield f"{text(source, node.value)}[{new}]"


def literal(node: ast.AST, _source: str) -> Iterator[str]:
    """A whole number is one too large or one too small."""
    if (value := number(node)) is not None:
        yield str(value + 1)
        if value > 0:
            yield str(value - 1)


def arithmetic(node: ast.AST, source: str) -> Iterator[str]:
    """Another operation, or the other way round."""
    other = {"Add": "-", "Sub": "+", "Mult": "+", "FloorDiv": "*", "Mod": "//", "Div": "*"}
    if isinstance(node, ast.BinOp) and (new := other.get(type(node.op).__name__)):
        yield f"({text(source, node.left)}) {new} ({text(source, node.right)})"
    elif isinstance(node, ast.AugAssign):
        yield f"{text(source, node.target)} = {text(source, node.value)}"
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = "-" if isinstance(node.op, ast.Add) else "+"
            yield f"{text(source, node.target)} {sign}= {text(source, node.value)}"


def extremum(node: ast.AST, source: str) -> Iterator[str]:
    """`min` becomes `max`, or one of the values is left out."""
    if isinstance(node, ast.Call) and (name := dotted(node)) in ("min", "max"):
        arguments = [text(source, argument) for argument in node.args]
        yield f"{'max' if name == 'min' else 'min'}({', '.join(arguments)})"
        # Of one argument, a list of values, none can be left out.
        for i in range(len(arguments) if len(arguments) > 1 else 0):
            rest = arguments[:i] + arguments[i + 1 :]
            yield f"{name}({', '.join(rest)})" if len(rest) > 1 else rest[0]


def loop(node: ast.AST, source: str) -> Iterator[str]:
    """A loop starts, ends or steps wrongly."""
    if not (isinstance(node, ast.Call) and dotted(node) == "range"):
        return
    given = [text(source, argument) for argument in node.args]
    start, end, step = (["0", *given] if len(given) == 1 else given) + ["1"] * (3 - max(len(given), 2))
    yield f"range({start} + 1, {end}, {step})"
    yield f"range({start}, {end} - 1, {step})"
    yield f"range({start}, {end} + 1, {step})"
    yield f"range({start}, {end}, {step} + 1)"
    if len(given) > 1:
        yield f"range({end})"
    if len(given) > 2:
        yield f"range({start}, {end})"


def float_literal(node: ast.AST, source: str) -> Iterator[str]:
    """A number of 64 bits stands where one of 32 should."""
    if isinstance(node, ast.Call) and dotted(node) in ("float32", "np.float32", "numba.float32"):
        yield f"float({text(source, node.args[0])})"


def dtype(node: ast.AST, source: str) -> Iterator[str]:
    """An array of the kernel's own has another type: fractions, or large numbers, do not fit into it."""
    others = {"float32": "int32", "float64": "int32", "int32": "int8"}
    if isinstance(node, ast.Call) and dotted(node).endswith(".array") and len(node.args) == 2:
        kind = text(source, node.args[1])
        if other := others.get(kind.rpartition(".")[2]):
            yield text(source, node)[: -len(kind) - 1] + f"'{other}')"


def whole_warp(node: ast.AST, source: str) -> Iterator[str]:
    """A shuffle goes the other way, or nowhere."""
    if isinstance(node, ast.Call) and dotted(node).startswith("cuda.shfl_"):
        yield text(source, node).replace("shfl_down_sync", "shfl_up_sync")
        yield text(source, node.args[1])


Operator = Callable[[ast.AST, str], Iterator[str]]
OPERATORS: dict[str, Operator] = {
    operator.__name__: operator
    for operator in (
        drop_guard,
        negate_guard,
        drop_barrier,
        barrier_in_branch,
        return_before_barrier,
        plain_for_atomic,
        no_write,
        drop_statement,
        overwrite_input,
        comparison,
        boolean,
        swap_axes,
        constant_block,
        constant_length,
        off_by_one,
        literal,
        arithmetic,
        extremum,
        loop,
        float_literal,
        dtype,
        whole_warp,
    )
}
