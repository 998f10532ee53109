"""Rewrites a kernel's syntax tree so that it can be traced; every line keeps its number.

Subscripts, arithmetic, branches and loops become calls of functions that are named below. A call at which a
thread waits for others becomes a ``yield``, and so the functions that hold one become generators, lambdas as
well. If asked for, so does an atomic operation, before which the thread then pauses.

A choice such as ``a if test else b``, ``and`` or ``or`` is a branch as well, if a value that it may leave out
is dear: if it divides, raises to a power that is not a number, loads an element, or calls a function other
than a type, ``abs``, ``max`` and their like, or one of the source that does nothing of the kind and has no
loop. All else the compiler works out for every thread, and picks one of the two values.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gpuguide.errors import ArgumentError
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES

#: The name by which rewritten code knows the machine that runs it.
TRACER = "__tracer__"
LOAD, STORE, EACH, SLICE, LACKING = "__load__", "__store__", "__each__", "__slice__", "__lacking__"
PAUSE, FINISHED = "__pause__", "__finished__"
OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "plus",
    ast.Sub: "minus",
    ast.Mult: "times",
    ast.Div: "quotient",
    ast.FloorDiv: "floor_quotient",
    ast.Mod: "remainder",
    ast.Pow: "power",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
    ast.BitAnd: "both_bits",
    ast.BitOr: "either_bits",
    ast.BitXor: "differing_bits",
    ast.USub: "negative",
    ast.Invert: "inverted",
    ast.IfExp: "either",
}
"""Functions of `number_rules` that stand for operators, by the operator's class."""
#: Begins the name of an operation on numbers that are known before the kernel runs.
FOLDED = "folded_"

#: Functions of ``cuda`` at which a thread waits for others.
WAITING = frozenset(
    {
        *("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp"),
        *("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"),
        *("all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync", "match_all_sync", "activemask"),
    }
)
#: Other functions of ``cuda`` that want to know where they are called, or families of them.
_PLACED = ("atomic.", "shared.array", "local.array", "threadfence")
#: What has such functions: the module itself, and parts of it.
_FAMILIES = (".", "atomic", "shared", "local")

_REFUSED: dict[type[ast.AST], str] = {
    ast.Yield: "yields",
    ast.YieldFrom: "yields",
    ast.Await: "awaits",
    ast.AsyncFunctionDef: "defines an asynchronous function",
    ast.AsyncFor: "loops asynchronously",
    ast.AsyncWith: "uses 'async with'",
    ast.ClassDef: "defines a class",
    ast.Try: "catches exceptions",
    ast.TryStar: "catches exceptions",
    ast.With: "uses 'with'",
    ast.Global: "changes a global variable",
    ast.Nonlocal: "changes a variable of another function",
    ast.Import: "imports a module",
    ast.ImportFrom: "imports a module",
}
#: Functions, besides the types, that take no more than an instruction or two.
_CHEAP = NUMBER_TYPES.keys() | {
    *(
        "abs",
        "fabs",
        "float",
        "fma",
        "int",
        "isnan",
        "len",
        "max",
        "maximum",
        "min",
        "minimum",
        "popc",
        "selp",
    ),
}
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_INLINE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Sites:
    """The places of a source that the log names by number.

    Attributes
    ----------
    lines : list of int
        The line of each.
    names : mapping
        The variables that arrays are assigned to where they are made, by site.
    from_the_end : set
        Sites and axes of subscripts such as ``x[-1]``: nobody writes that by mistake.
    unused : set
        Sites of atomic operations whose answer nobody looks at.
    loops : mapping
        The line of the innermost ``while`` around each line of its body: what does not end, if not a ``for``.
    around : mapping
        The words and lines of the branches and loops around each line, the outermost first.
    """

    lines: list[int] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    from_the_end: set[tuple[int, int]] = field(default_factory=set)
    unused: set[int] = field(default_factory=set)
    loops: dict[int, int] = field(default_factory=dict)
    around: dict[int, list[tuple[str, int]]] = field(default_factory=dict)

    def new(self, line: int) -> int:
        """Give a place its number."""
        self.lines.append(line)
        return len(self.lines) - 1

    def enter(self, word: str, line: int, node: ast.If | ast.For | ast.While) -> None:
        """Note what stands around the lines of a statement; those around it have been noted before."""
        for inside in range(node.body[0].lineno, (node.end_lineno or line) + 1):
            self.around.setdefault(inside, []).append((word, line))

    def line(self, site: int) -> int:
        """Return the line of a place."""
        return self.lines[site]

    def loop_around(self, line: int) -> int:
        """Return the line of the loop that keeps a line busy: of the innermost ``while``, if there is one."""
        of_for = [around for word, around in self.around.get(line, ()) if word == "loop"]
        return self.loops.get(line, of_for[-1] if of_for else line)


@dataclass(frozen=True)
class Rewritten:
    """Functions ready to be compiled, and the names of those that wait."""

    functions: list[ast.FunctionDef]
    waiting: frozenset[str]
    sites: Sites


def rewrite(
    functions: Iterable[ast.FunctionDef],
    imports: Mapping[str, str],
    attributes: Collection[str],
    kernel: str = "",
    *,
    pauses: bool = False,
) -> Rewritten:
    """Rewrite the functions of a kernel's source, in place.

    `imports` holds full names by the names that they are bound to. An attribute that is not among those a
    kernel may look up gives way to a complaint. With pauses others can come between atomic operations.
    """
    tops = [_Unaliased(function, imports).visit(function) for function in functions]
    nodes = [node for top in tops for node in ast.walk(top)]
    for node in nodes:
        _refuse(node)
    waits, effort = Waits(nodes, imports, pauses=pauses), _Effort(nodes, imports)
    sites = Sites()
    done = []
    for function in tops:
        rewriter = _Rewriter(waits, effort, sites, attributes, tells_returns=function.name == kernel)
        done.append(ast.fix_missing_locations(rewriter.visit(function)))
    return Rewritten(done, waits.functions, sites)


def _refuse(node: ast.AST) -> None:
    """Refuse what no kernel can do, and what would reach behind the simulator."""
    line = getattr(node, "lineno", 0)
    if type(node) in _REFUSED:
        raise ArgumentError(f"Line {line} {_REFUSED[type(node)]}, which no kernel can do.")
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        raise ArgumentError(f"Line {line} sets {ast.unparse(node)}, which no kernel can do.")
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Del):
        raise ArgumentError(f"Line {line} deletes an element, which no kernel can do.")
    for name in (getattr(node, part, None) for part in ("id", "attr", "arg", "name")):
        if isinstance(name, str) and name.startswith("__"):
            raise ArgumentError(f"Line {line} uses {name}, which no kernel can do.")


def _of_cuda(node: ast.AST, imports: Mapping[str, str]) -> str:
    """Return the name that an expression has in ``numba.cuda``, which itself is "."; empty if it has none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    name = ".".join([imports.get(node.id, node.id), *parts])
    if name.endswith("backends.cuda") or ".backends.cuda." in name:
        name = "numba.cuda" + name.partition("backends.cuda")[2]
    if name == "numba.cuda":
        return "."
    return name.removeprefix("numba.cuda.") if name.startswith("numba.cuda.") else ""


class _Unaliased(ast.NodeTransformer):
    """Puts what ``add = cuda.atomic.add`` stands for in the place of ``add``: where it is called counts."""

    def __init__(self, function: ast.FunctionDef, imports: Mapping[str, str]) -> None:
        names = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and _is_store(node)]
        names += [node.arg for node in ast.walk(function) if isinstance(node, ast.arg)]
        self.meant: dict[str, ast.expr] = {}
        assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.AnnAssign)]
        for node in sorted(assigned, key=lambda node: (node.lineno, node.col_offset)):
            for target, value in assigned_by(node):
                if isinstance(target, ast.Name) and isinstance(value, ast.Name | ast.Attribute):
                    full = self.visit(copy.deepcopy(value))  # `a = cuda.atomic` may stand above `add = a.add`
                    meant = _of_cuda(full, imports)
                    is_placed = meant in WAITING or meant.startswith(_PLACED) or meant in _FAMILIES
                    if names.count(target.id) == 1 and is_placed:
                        self.meant[target.id] = full

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """Drop what is put elsewhere."""
        return self._without(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Drop what is put elsewhere."""
        return self._without(node)

    def _without(self, node: ast.Assign | ast.AnnAssign) -> ast.stmt:
        pairs = [*assigned_by(node)]
        left = [pair for pair in pairs if not (isinstance(pair[0], ast.Name) and pair[0].id in self.meant)]
        if pairs and not left:
            return _at(node, ast.Pass())
        if len(left) < len(pairs):
            targets, values = ([*each] for each in zip(*left, strict=True))
            node = _at(node, ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load())))
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Put it here."""
        return _at(node, copy.deepcopy(self.meant[node.id])) if node.id in self.meant else node


def assigned_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what an assignment sets, and to what: of ``a, b = 1, 2`` two; of other nodes, nothing."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _parts(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value


def _parts(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for each, its in zip(targets, values, strict=True):
                yield from _parts(each, its)
        case _:
            yield target, value


def bound_by(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds, each with what it stands for in full; of others, nothing."""
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        case ast.ImportFrom(module=module, names=aliases):
            for alias in aliases:
                yield alias.asname or alias.name, f"{module}.{alias.name}"


class Waits:
    """Answers, for the functions of one source, whose nodes are given, where a thread waits."""

    def __init__(
        self, nodes: Collection[ast.AST], imports: Mapping[str, str], *, pauses: bool = False
    ) -> None:
        self._imports, self._pauses = imports, pauses
        self.functions: frozenset[str] = frozenset()
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        # Lambdas, and names that are not just called.
        values = [
            node for node in nodes
            if isinstance(node, ast.Lambda) or (isinstance(node, ast.Name) and id(node) not in called)
        ]  # fmt: skip
        defined = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        self._variables = {node.id for node in nodes if isinstance(node, ast.Name) and _is_store(node)}
        self._variables |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        #: Whether a function that waits is a value, so that only its call shows which variables hold it.
        self._passed_on = False
        before = None
        while before != (before := (self.functions, self._passed_on)):
            # A caller of a function that waits waits, too.
            self.functions = frozenset(each.name for each in defined if self._waits_in(each))
            self._passed_on = any(map(self._is_value_that_waits, values))
        self._refuse_other_names(nodes, called)
        self._refuse_inline(nodes)

    def of_cuda(self, node: ast.AST) -> str:
        """Return the name that an expression has in ``numba.cuda``; empty if it has none."""
        return _of_cuda(node, self._imports)

    def at(self, node: ast.AST) -> bool:
        """Say whether a node is a call at which the thread waits."""
        return isinstance(node, ast.Call) and self._names(node.func)

    def is_atomic(self, node: ast.AST) -> bool:
        """Say whether a node is a call of an atomic operation."""
        return isinstance(node, ast.Call) and self.of_cuda(node.func).startswith("atomic.")

    def pauses_at(self, node: ast.AST) -> bool:
        """Say whether the thread pauses before the call that a node is."""
        return self._pauses and self.is_atomic(node)

    def inside(self, node: ast.AST) -> bool:
        """Say whether a node calls a function in which the thread waits, or a value that may be one."""
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name in self.functions or (self._passed_on and name in self._variables)
            case ast.Call(func=ast.Attribute()):
                return False
        return isinstance(node, ast.Call) and self._passed_on

    def _waits_in(self, function: ast.FunctionDef | ast.Lambda) -> bool:
        return any(self._stops_at(node) for node in own_nodes(function))

    def _is_value_that_waits(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Lambda):
            return self._waits_in(node)
        return isinstance(node, ast.Name) and node.id in self.functions

    def _stops_at(self, node: ast.AST) -> bool:
        return self.at(node) or self.inside(node) or self.pauses_at(node)

    def _names(self, node: ast.AST) -> bool:
        return self.of_cuda(node) in WAITING

    def _refuse_other_names(self, nodes: Collection[ast.AST], called: set[int]) -> None:
        # A bare `cuda.syncthreads` without parentheses does nothing in Numba either: the race shows.
        bare = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.expr) and self._names(node) and id(node) not in called | bare:
                raise ArgumentError(
                    f"Line {node.lineno} uses {ast.unparse(node)} without calling it. Call it in place."
                )

    def _refuse_inline(self, nodes: Collection[ast.AST]) -> None:
        for node in nodes:
            if isinstance(node, _INLINE) and any(self._stops_at(each) for each in ast.walk(node)):
                raise ArgumentError(
                    f"Line {node.lineno} waits for other threads inside a list. Write a loop."
                )


class _Effort:
    """Answers, for the functions of one source, which values are dear enough for a branch around them."""

    def __init__(self, nodes: Collection[ast.AST], imports: Mapping[str, str]) -> None:
        self._imports = imports
        self._variables = {node.id for node in nodes if isinstance(node, ast.Name) and _is_store(node)}
        self._variables |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        defined = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        self._cheap: set[str] = {*_CHEAP, *(each.name for each in defined)}
        before = 0
        while before != (before := len(self._cheap)):
            # A caller of a dear function is dear, too.
            self._cheap -= {each.name for each in defined if self._is_dear_inside(each)}

    def is_dear(self, value: ast.expr) -> bool:
        """Say whether the compiler works out a value only for the threads that need it."""
        return any(map(self._takes_long, ast.walk(value)))

    def _is_dear_inside(self, function: ast.FunctionDef) -> bool:
        nodes = (node for statement in function.body for node in ast.walk(statement))
        return any(isinstance(node, ast.For | ast.While) or self._takes_long(node) for node in nodes)

    def _takes_long(self, node: ast.AST) -> bool:
        match node:
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod()):
                return not is_known(node, self._variables)
            case ast.BinOp(op=ast.Pow(), right=exponent):
                return not isinstance(exponent, ast.Constant)
            case ast.Subscript(value=ast.Attribute(attr="shape" | "strides")):
                return False
            case ast.Call(func=ast.Name(id=name)):
                return self._imports.get(name, name).rpartition(".")[2] not in self._cheap
            case ast.Call(func=ast.Attribute(attr=name)):
                return name not in _CHEAP
        return isinstance(node, ast.Subscript | ast.Call)


def own_nodes(function: ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """Walk a function without the functions that are defined in it."""
    pending: list[ast.AST] = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            pending.extend(ast.iter_child_nodes(node))


class _Rewriter(ast.NodeTransformer):
    def __init__(
        self,
        waits: Waits,
        effort: _Effort,
        sites: Sites,
        attributes: Collection[str],
        *,
        tells_returns: bool,
    ) -> None:
        self.waits, self.effort, self.sites, self.attributes = waits, effort, sites, attributes
        self.tells_returns, self.n_names, self.depth = tells_returns, 0, 0
        #: Variables of the function that is rewritten, but for those that are set once, to a constant.
        self.variables: set[str] = set()

    def _fresh(self, word: str) -> str:
        self.n_names += 1
        return f"__{word}_{self.n_names}"

    # Functions.

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Drop decorators and annotations, count the calls; a return out of a loop puts the path back."""
        node.decorator_list, node.returns = [], None
        own = [*own_nodes(node)]
        self.variables |= _variables(node, own)
        tells, self.tells_returns = self.tells_returns, self.tells_returns and self.depth == 0
        self.depth += 1
        first = node.body[0]
        loops = any(isinstance(inner, ast.For | ast.While) for inner in own)
        self.generic_visit(node)
        self.depth, self.tells_returns = self.depth - 1, tells
        if loops:
            keep = _assign("__entry", _of_tracer("path"))
            put_back: list[ast.stmt] = [ast.Expr(_tell("leave", _name("__entry")))]
            body = ast.Try(body=node.body, handlers=[], orelse=[], finalbody=put_back)
            node.body = [_at(node.body[0], keep), _at(node.body[0], body)]
        node.body.insert(0, _at(first, ast.Expr(_tell("called", ast.Constant(node.lineno)))))
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return | list[ast.stmt]:
        """Tell where a kernel ends before its last line: others may wait for the thread."""
        self.generic_visit(node)
        if not self.tells_returns:
            return node
        return [_at(node, ast.Expr(_tell("returns", ast.Constant(node.lineno)))), node]

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        """Know its parameters for what they are."""
        self.variables |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Drop the annotation: it may name what this simulator does not have."""
        node.annotation = None
        return node

    # Branches and loops.

    def visit_If(self, node: ast.If) -> ast.If:
        """Tell which way the test went."""
        self.sites.enter("if", node.test.lineno, node)
        node.test = self._branch(node.test)
        node.body, node.orelse = self._all(node.body), self._all(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        """Count the turns, and tell which way each test went."""
        # Loops inside come later, and have the last word.
        self.sites.loops |= dict.fromkeys(
            range(node.lineno, (node.end_lineno or node.lineno) + 1), node.lineno
        )
        self.sites.enter("loop", node.lineno, node)
        node.test = self._branch(node.test)
        leaving = _leaves_first(node.body)
        node.body, node.orelse = self._all(node.body), self._all(node.orelse)
        return self._counted(node, leaving)

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """Count the turns, and tell how many there were: threads that differ in it part."""
        for inner in ast.walk(node.target):
            if isinstance(inner, ast.Subscript):
                raise ArgumentError(f"Line {node.lineno} loops over an element, which no kernel can do.")
        self.sites.enter("loop", node.lineno, node)
        node.iter = self._elements_of(node.iter)
        node.target = self.visit(node.target)
        leaving = _leaves_first(node.body)
        node.body, node.orelse = self._all(node.body), self._all(node.orelse)
        return self._counted(node, leaving)

    def _all(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [each for statement in statements for each in _listed(self.visit(statement))]

    def _branch(self, test: ast.expr) -> ast.expr:
        site = ast.Constant(self.sites.new(test.lineno))
        return _at(test, _tell("branch", self.visit(test), site))

    def _elements_of(self, node: ast.expr) -> ast.expr:
        return _at(node, _call(EACH, self.visit(node), self._site(node)))

    def _counted(self, node: ast.For | ast.While, leaving: ast.If | None) -> list[ast.stmt]:
        outer, turn = self._fresh("outer"), self._fresh("turn")
        before = [_assign(outer, _of_tracer("path")), _assign(turn, _tell("enter"))]
        line = ast.Constant(node.lineno)
        if leaving is not None:
            leaving.body.insert(-1, _at(leaving.body[-1], ast.Expr(_tell("not_taken", line))))
        node.body.insert(0, _at(node, _assign(turn, _tell("turn", _name(turn), line))))
        after = ast.Expr(
            _tell("left", _name(outer), _name(turn), self._site(node.iter))
            if isinstance(node, ast.For)
            else _tell("leave", _name(outer))
        )
        return [*(_at(node, each) for each in before), node, _at(node, after)]

    # Elements of arrays.

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Load an element; a shape is a tuple and stays alone."""
        if isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides"):
            self.generic_visit(node)
            return node
        site = self._site(node)
        return _at(node, _call(LOAD, self.visit(node.value), self._index(node.slice), site))

    def _index(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Slice():
                parts = [self.visit(part) if part else ast.Constant(None) for part in _slice_parts(node)]
                return _call(SLICE, *parts)
            case ast.Tuple():
                return ast.Tuple([self._index(part) for part in node.elts], ast.Load())
        visited: ast.expr = self.visit(node)
        return visited

    def _site(self, node: ast.expr) -> ast.Constant:
        site = self.sites.new(node.lineno)
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for axis, part in enumerate(parts):
                match part:
                    case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                        self.sites.from_the_end.add((site, axis))
        return ast.Constant(site)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        """Store into elements; of several targets, or several parts, each gets the value in its turn."""
        held = [
            inner for each in node.targets for inner in ast.walk(each) if isinstance(inner, ast.Subscript)
        ]
        if not held:
            self._note_name(node.targets[0] if len(node.targets) == 1 else None, node.value)
            node.value = self.visit(node.value)
            return node
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            return self._store(node, node.targets[0], self.visit(node.value))
        stores: list[ast.stmt] = []
        for position, target in enumerate(node.targets):
            node.targets[position] = self._set_aside(target, stores)
        node.value = self.visit(node.value)
        return [node, *stores]

    def _set_aside(self, target: ast.expr, stores: list[ast.stmt]) -> ast.expr:
        """Put a variable in the place of an element, which is stored to afterwards."""
        if isinstance(target, ast.Subscript):
            name = self._fresh("value")
            stores.append(self._store(target, target, _name(name)))
            return _at(target, ast.Name(name, ast.Store()))
        if isinstance(target, ast.Tuple | ast.List):
            target.elts = [self._set_aside(each, stores) for each in target.elts]
        return target

    def _store(self, place: ast.stmt | ast.expr, target: ast.Subscript, value: ast.expr) -> ast.stmt:
        site = self._site(target)
        call = _call(STORE, value, self.visit(target.value), self._index(target.slice), site)
        return _at(place, ast.Expr(call))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | list[ast.stmt]:
        """Make an annotated assignment a plain one."""
        if node.value is None:
            return _at(node, ast.Pass())
        return self.visit_Assign(_at(node, ast.Assign(targets=[node.target], value=node.value)))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Load, work out and store."""
        name = OPERATIONS.get(type(node.op))
        if name is None:
            self.generic_visit(node)
            return node
        if not isinstance(node.target, ast.Subscript):
            assert isinstance(node.target, ast.Name)  # an attribute was refused
            old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            result = _call(f"__{name}__", old, self.visit(node.value))
            return _at(node, ast.Assign([node.target], result))
        target, array, index = node.target, self._fresh("array"), self._fresh("index")
        before, after = self._site(target), self._site(target)
        holder = ast.NamedExpr(ast.Name(array, ast.Store()), self.visit(target.value))
        where = ast.NamedExpr(ast.Name(index, ast.Store()), self._index(target.slice))
        result = _call(f"__{name}__", _call(LOAD, holder, where, before), self.visit(node.value))
        return _at(node, ast.Expr(_call(STORE, result, _name(array), _name(index), after)))

    def _note_name(self, target: ast.expr | None, value: ast.expr) -> None:
        """Remember the variable that an array is assigned to where it is made."""
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            self.sites.names[len(self.sites.lines)] = target.id  # its site is the next one

    # Calls, attributes and operators.

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Look up nothing but what a kernel may, so that nobody reaches behind the simulator."""
        lacking = None
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            lacking = inner if inner.attr not in self.attributes else lacking
            inner = inner.value
        if lacking is not None:
            return _at(node, _call(LACKING, ast.Constant(ast.unparse(lacking))))
        self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        """Note an atomic operation whose answer nobody looks at."""
        if self.waits.is_atomic(node.value):
            self.sites.unused.add(len(self.sites.lines))  # its site is the next one
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Hand over to the scheduler where the thread waits."""
        waits, inside, name = self.waits.at(node), self.waits.inside(node), self.waits.of_cuda(node.func)
        if waits or name.startswith(_PLACED):
            site: ast.expr = self._site(node)
            pauses = self.waits.pauses_at(node)
            self.generic_visit(node)
            # The last argument, so that all others are worked out before the pause.
            node.keywords.append(ast.keyword("site", ast.Yield(_call(PAUSE, site)) if pauses else site))
        elif isinstance(node.func, ast.Name) and node.func.id in ("enumerate", "zip"):
            node.args = [self._elements_of(each) for each in node.args]
        else:
            self.generic_visit(node)
        if waits:
            return _at(node, ast.Yield(node))
        return _at(node, ast.YieldFrom(_call(FINISHED, node))) if inside else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Work out by Numba's rules."""
        folded = FOLDED if is_known(node, self.variables) else ""
        self.generic_visit(node)
        name = OPERATIONS.get(type(node.op))
        return node if name is None else _at(node, _call(f"__{folded}{name}__", node.left, node.right))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Give the value the type of each side that is known: ``x[i] if i < n else float(0)``."""
        sides = (node.body, node.orelse)
        known = [part for part in sides if self._has_known_type(part)]
        parts = any(map(self.effort.is_dear, sides))
        node.test = self._branch(node.test) if parts else self.visit(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        if all(is_known(part, self.variables) for part in sides):
            return node
        chosen: ast.expr = node
        for part in known:
            chosen = _at(node, _call(f"__{OPERATIONS[ast.IfExp]}__", chosen, copy.deepcopy(part)))
        return chosen

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        """Tell which way a part goes that spares the thread a dear one."""
        *firsts, last = node.values
        dear = [self.effort.is_dear(each) for each in node.values]
        node.values = [
            self._branch(each) if any(dear[place:]) else self.visit(each)
            for place, each in enumerate(firsts, 1)
        ]
        node.values.append(self.visit(last))
        return node

    def _has_known_type(self, node: ast.expr) -> bool:
        """Say whether an expression is known, or one that is known made a number of some type."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=[value], keywords=[]) if name not in self.variables:
                return name in NUMBER_TYPES.keys() | {"float", "int"} and is_known(value, self.variables)
        return is_known(node, self.variables)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Work out by Numba's rules what is not simply a negative number."""
        self.generic_visit(node)
        name = OPERATIONS.get(type(node.op))
        if name is None or isinstance(node.operand, ast.Constant):
            return node
        return _at(node, _call(f"__{name}__", node.operand))

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        """Leave patterns alone: they take literals only."""
        return node


def is_known(node: ast.expr, variables: Collection[str]) -> bool:
    """Say whether an expression has a value before the kernel runs: constants, and arithmetic with them."""
    match node:
        case ast.Name(id=name):
            return name not in variables
        case ast.Attribute(
            value=ast.Name(id="math" | "np" | "numpy"), attr="e" | "inf" | "nan" | "pi" | "tau"
        ):
            return True
        case ast.BinOp(left=left, right=right):
            return is_known(left, variables) and is_known(right, variables)
        case ast.UnaryOp(operand=operand):
            return is_known(operand, variables)
    return isinstance(node, ast.Constant)


def _leaves_first(body: list[ast.stmt]) -> ast.If | None:
    """Return the branch by which a loop is left before its turn's work, as ``if low > high: break`` does.

    To work out what it asks for, without a look at memory, is no work yet.
    """
    for statement in body:
        match statement:
            case ast.If(body=[*_, ast.Break() | ast.Return()], orelse=[]):
                return statement
            case ast.Assign(targets=[ast.Name()], value=value) if not _calls_or_looks(value):
                continue
        return None
    return None


def _calls_or_looks(value: ast.expr) -> bool:
    """Say whether an expression calls a function, or takes an element."""
    return any(isinstance(node, ast.Call | ast.Subscript) for node in ast.walk(value))


def _variables(function: ast.FunctionDef, own: list[ast.AST]) -> set[str]:
    """Return the variables of a function, of which the own nodes are given too, and its parameters."""
    names = [node.id for node in own if isinstance(node, ast.Name) and _is_store(node)]
    names += [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    constant = {
        node.targets[0].id
        for node in own
        if isinstance(node, ast.Assign)
        and is_known(node.value, names)
        and isinstance(node.targets[0], ast.Name)
    }
    return {name for name in names if name not in constant or names.count(name) > 1}


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _slice_parts(node: ast.Slice) -> list[ast.expr | None]:
    return [node.lower, node.upper, *([node.step] if node.step else [])]


_Placed = ast.stmt | ast.expr
_Node = TypeVar("_Node", bound=_Placed)


def _at(place: _Placed, node: _Node) -> _Node:
    """Let a new node start where the old one does, and its parts with it; it spans no further line."""
    ast.copy_location(node, place)
    node.end_lineno, node.end_col_offset = place.lineno, place.col_offset
    return node


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _of_tracer(name: str) -> ast.Attribute:
    return ast.Attribute(_name(TRACER), name, ast.Load())


def _tell(method: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_of_tracer(method), list(arguments), [])


def _call(name: str, *arguments: Any) -> ast.Call:
    return ast.Call(_name(name), list(arguments), [])


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _listed(new: Any) -> list[ast.stmt]:
    return new if isinstance(new, list) else [new]
