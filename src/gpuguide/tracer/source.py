"""Makes functions ready to be traced: waiting calls become ``yield``, loop bodies tick, lines stay in place.

A function is read from its source text, wherever it was defined, and executed anew. What its names stand for
is looked up where it was defined, and replaced: Numba, NumPy and `math` by the tracer's, functions that it
calls by ones that are ready, too. All else is ordinary Python.
"""

from __future__ import annotations

import ast
import linecache
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType, GeneratorType, ModuleType
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.tracer.memory import Array, KernelError, Site, array
from gpuguide.tracer.names import (
    CUDA,
    WAITS,
    Cuda,
    Names,
    NumpyNames,
    Wait,
    kernel_builtins,
    math_names,
    numpy_names,
)
from gpuguide.tracer.numbers import DTYPES, DType

__all__ = ["Program", "Ready"]

NUMBA = ("numba", "numba_cuda", "numba_cuda_mlir")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: What no kernel can hold, and what it is called.
_CANNOT = {
    ast.List: "a list", ast.ListComp: "a list", ast.Dict: "a dictionary", ast.DictComp: "a dictionary",
    ast.Set: "a set", ast.SetComp: "a set", ast.Try: "a try statement", ast.With: "a with statement",
    ast.Global: "a global statement", ast.Nonlocal: "a nonlocal statement", ast.ClassDef: "a class",
    ast.JoinedStr: "an f-string", ast.Import: "an import", ast.ImportFrom: "an import",
    ast.Yield: "a yield", ast.YieldFrom: "a yield", ast.Await: "an await",
}  # fmt: skip
#: Functions of Python that Numba lacks in kernels.
_NOT_IN_KERNELS = ("all", "any", "exit", "input", "open", "quit", "reversed", "sorted")
#: Functions of NumPy that return a new array, which no kernel can make.
_MAKE_ARRAYS = (
    "arange", "array", "asarray", "copy", "cumprod", "cumsum", "empty", "empty_like", "full", "full_like",
    "linspace", "ones", "ones_like", "sort", "zeros", "zeros_like",
)  # fmt: skip


@dataclass(eq=False)
class Ready:
    """A function that is ready: what to call, and whether it is a generator because somewhere it waits."""

    name: str
    filename: str
    line: int
    parameters: tuple[str, ...]
    waits: bool = False
    call: Callable[..., Any] = field(default=lambda: None)


class Program:
    """The functions of a launch, and what stands for the modules that they use."""

    def __init__(self, *, watch_branches: bool = False) -> None:
        self.cuda = CUDA
        self.math = math_names()
        self.numpy = numpy_names(self.math)
        self.numba = Names("numba", cuda=self.cuda, types=Names("numba.types", **DTYPES), **DTYPES)
        #: For each code object the place of each instruction. Python may stop an instruction at its start or
        #: behind what it caches, so a place is that of the expression.
        self.sites: dict[int, list[Site]] = {}
        self._codes: list[CodeType] = []
        self._places: list[tuple[str, int]] = [("", 0)]
        self.watch_branches = watch_branches
        #: Python's functions as kernels have them, and what the rewriting calls: the launch puts in its own.
        self.builtins = kernel_builtins()
        self._ready: dict[CodeType, Ready] = {}
        self._names_of_arrays: dict[tuple[str, int], str] = {}
        self._written_out: set[tuple[str, int]] = set()
        #: Lines that name a barrier but do not call it.
        self.uncalled: list[tuple[int, str]] = []

    def ready(self, function: Any, *, kernel: bool = False) -> Ready:
        """Make a function ready, and all those that it calls."""
        function = getattr(function, "py_func", function)
        code = function.__code__
        if code in self._ready:
            return self._ready[code]
        filename = code.co_filename
        node = _definition(function)
        ready = Ready(function.__name__, filename, node.lineno, tuple(code.co_varnames[: code.co_argcount]))
        self._ready[code] = ready
        known = {name: self.replaced(value) for name, value in _names_of(function).items()}
        _check(node, {name: known[name] for name in known.keys() - _local_names(node)}, is_kernel=kernel)
        rewriter = _Rewriter(known, _local_names(node), kernel=kernel, branches=self.watch_branches)
        for statement in ast.walk(node):
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self._names_of_arrays[filename, statement.lineno] = statement.targets[0].id
            if isinstance(statement, ast.Expr) and rewriter.is_wait(statement.value):
                self.uncalled.append((statement.lineno, ast.unparse(statement.value)))
            if isinstance(statement, ast.Subscript) and _is_negative(statement.slice):
                self._written_out.add((filename, statement.lineno))
        ready.waits = rewriter.waits(node)
        compiled = compile(_as_module(rewriter, node), filename, "exec")
        self._keep(compiled)
        space: dict[str, Any] = {
            **known, "__builtins__": self.builtins, "__finish__": _finish, "__name__": function.__module__,
        }  # fmt: skip
        exec(compiled, space)  # the reader's own function, which a launch would execute, too
        call = space["__traced__" if isinstance(node, ast.Lambda) else node.name]
        call.__defaults__ = function.__defaults__
        ready.call = call
        call.__traced__ = ready
        if isinstance(node, ast.FunctionDef) and node.name in known:  # it calls itself
            space[node.name] = call
        return ready

    def _keep(self, code: CodeType) -> None:
        self._codes.append(code)
        sites, last = [], None
        for position in code.co_positions():
            if position != last:
                last = position
                self._places.append((code.co_filename, position[0] or 0))
            sites.append(len(self._places) - 1)
        self.sites[id(code)] = sites
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._keep(constant)

    def line(self, site: Site) -> int:
        """Return the line of a place."""
        return self._places[site][1]

    def is_written_out(self, site: Site) -> bool:
        """Say whether an index below zero is a number in the source, as in ``x[-1]``, and so is meant."""
        return self._places[site] in self._written_out

    def name_at(self, site: Site) -> str:
        """Return what the array is called that is made by an instruction."""
        place = self._places[site]
        return self._names_of_arrays.get(place, f"the array of line {place[1]}")

    # --- What stands for a value --------------------------------------------------------------------------

    def replaced(self, value: Any) -> Any:
        """Return what a kernel sees in the place of a global value."""
        if value is None or isinstance(value, bool | int | float | str | Array | DType | Wait | Cuda):
            return value
        if isinstance(value, tuple):
            return tuple(map(self.replaced, value))
        if isinstance(value, ModuleType | Names):
            return self._module(value)
        if hasattr(value, "py_func") or isinstance(value, FunctionType):
            return self._function(value)
        home = str(getattr(value, "__module__", "") or type(value).__module__)
        roots = {home.partition(".")[0], type(value).__module__.partition(".")[0]}
        if home == "math":
            return getattr(self.math, value.__name__)
        make = self._of_numba if roots & {*NUMBA} else self._of_numpy if roots & {"numpy", "cupy"} else None
        return value if make is None else make(value)

    def _function(self, value: Any) -> Any:
        function = getattr(value, "py_func", value)
        if id(function.__code__) in self.sites or function.__module__.startswith("gpuguide.tracer"):
            return function
        ready = self.ready(function)

        def later(*arguments: Any, **named: Any) -> Any:
            return ready.call(*arguments, **named)

        later.__traced__ = ready  # type: ignore[attr-defined]
        return later

    def _module(self, module: Any) -> Any:
        name = module.__name__
        root, _, rest = name.partition(".")
        if root in NUMBA:
            last = rest.rpartition(".")[2]
            own = {"": self.numba, "cuda": self.cuda, "types": self.numba.types, "numba": self.numba}.get(
                last
            )
            return own or (module if isinstance(module, Names) else Names(name))
        return {"math": self.math, "numpy": self.numpy, "cupy": self.numpy}.get(name) or _Lookup(self, module)

    def _of_numba(self, value: Any) -> Any:
        """Return what stands for a type of Numba, or for a name that was imported from `numba.cuda`."""
        if str(value) in DTYPES:
            return DTYPES[str(value)]
        for home in NUMBA:
            cuda = sys.modules.get(f"{home}.cuda")
            for name in (*WAITS, *_CUDA_NAMES):
                if cuda is not None and getattr(cuda, name, None) is value:
                    return getattr(self.cuda, name)
        return Names(str(getattr(value, "__name__", type(value).__name__)))

    def _of_numpy(self, value: Any) -> Any:
        kind = getattr(value, "dtype", None)
        if isinstance(value, type) or type(value).__name__ == "ufunc" or not hasattr(value, "shape"):
            known = getattr(value, "__name__", str(value))
            return DTYPES[known] if known in DTYPES else getattr(self.numpy, known)
        if kind is not None and getattr(value, "shape", None) == ():
            return DTYPES[str(kind)](value.item()) if str(kind) in DTYPES else value
        return array(value, str(kind)) if kind is not None else value


_CUDA_NAMES = (
    "threadIdx", "blockIdx", "blockDim", "gridDim", "grid", "gridsize", "shared", "local", "const", "atomic",
    "threadfence", "popc", "fma", "warpsize", "laneid",
)  # fmt: skip


class _Lookup:
    """A module of the reader: what a kernel takes from it is replaced when it is asked for."""

    def __init__(self, program: Program, module: Any) -> None:
        self._program, self._module = program, module

    def __getattr__(self, name: str) -> Any:
        return self._program.replaced(getattr(self._module, name))


def _finish(result: Any) -> Any:
    """Wait where the result of a call of something unknown says so."""
    if isinstance(result, GeneratorType):
        result = yield from result
    if isinstance(result, Wait):
        return (yield result)
    return result


# --- Reading ---------------------------------------------------------------------------------------------

_trees: dict[str, tuple[list[str], ast.Module]] = {}


def _definition(function: FunctionType) -> Any:
    """Return the syntax of a function, from the text of its file."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise ArgumentError(
            f"The source of {function.__name__} cannot be read: {code.co_filename!r} is no file. Write the "
            "kernel into a file or a notebook's cell."
        )
    known = _trees.get(code.co_filename)
    if known is None or known[0] != lines:
        known = _trees[code.co_filename] = list(lines), ast.parse("".join(lines))
    for node in ast.walk(known[1]):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno:
                return _copied(node)
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            return _copied(node)
    raise ArgumentError(
        f"The source of {function.__name__} was changed after it was imported: import it anew."
    )


def _copied(node: Any) -> Any:
    """Return a copy without decorators and hints, which the rewriting may change."""
    import copy

    node = copy.deepcopy(node)
    if isinstance(node, ast.FunctionDef):
        node.decorator_list, node.returns = [], None
        for argument in (*node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        node.args.defaults = [ast.copy_location(ast.Constant(None), each) for each in node.args.defaults]
    return node


def _names_of(function: FunctionType) -> dict[str, Any]:
    """Return the values of the names that a function takes from where it was defined."""
    code, names = function.__code__, set[str]()
    pending = [code]
    while pending:
        each = pending.pop()
        names.update(each.co_names)
        pending += [constant for constant in each.co_consts if isinstance(constant, CodeType)]
    known = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            known[name] = cell.cell_contents
        except ValueError:  # not set yet, as where a function calls itself
            continue
    return known


def _is_negative(index: ast.expr) -> bool:
    return any(
        isinstance(each, ast.UnaryOp)
        and isinstance(each.op, ast.USub)
        and isinstance(each.operand, ast.Constant)
        for each in (index.elts if isinstance(index, ast.Tuple) else [index])
    )


def own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from own(child)


def _local_names(node: Any) -> set[str]:
    """Return the parameters of a function and the names that are set in it, or in functions in it."""
    names = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    names |= {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    return names | {
        each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef) and each is not node
    }


def _check(node: Any, known: Mapping[str, Any], *, is_kernel: bool) -> None:
    """Refuse what Numba cannot compile, where a beginner may well write it."""
    own_names = {*known, *_local_names(node)}
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id in _NOT_IN_KERNELS and each.id not in own_names:
            raise _refused(each, f"uses {each.id}, which a kernel cannot call")
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            _check_attribute(each, each.value.id, known.get(each.value.id))
        what = _CANNOT.get(type(each))
        if what is not None and each is not node:
            raise _refused(each, f"holds {what}, which a kernel cannot have")
        if isinstance(each, ast.Call) and ast.unparse(each.func).endswith(("shared.array", "local.array")):
            shapes = [*each.args[:1], *(word.value for word in each.keywords if word.arg == "shape")]
            if any(not _is_constant(shape, node, known) for shape in shapes):
                why = "Numba must know it: write a number, or a name that is set to one outside of the kernel"
                raise _refused(each, f"makes an array of the shape {ast.unparse(shapes[0])}. {why}")
    for each in own(node) if is_kernel else ():
        value = each.value if isinstance(each, ast.Return) else None
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            raise _refused(value, "returns a value, and a kernel cannot return any")


def _check_attribute(node: ast.Attribute, home: str, module: Any) -> None:
    """Refuse a name that Numba's, NumPy's or Python's module lacks in a kernel."""
    name = f"{home}.{node.attr}"
    if isinstance(module, Cuda | Names) and not hasattr(module, node.attr):
        raise _no_such_name(home, node.attr, module, node.lineno)
    if isinstance(module, NumpyNames) and node.attr in _MAKE_ARRAYS:
        why = "a kernel has cuda.shared.array and cuda.local.array for that"
        raise _refused(node, f"makes an array with {name}, which no kernel can: {why}")
    if isinstance(module, NumpyNames) and node.attr in ("max", "min"):
        raise _refused(node, f"uses {name}, which a kernel cannot call: {node.attr}(a, b) takes two numbers")


def _refused(node: Any, text: str) -> KernelError:
    return KernelError("compile", f"Line {node.lineno} {text}.", node.lineno)


def _no_such_name(module_name: str, name: str, module: Any, line: int) -> KernelError:
    """Return the error for a name that a module lacks: a slip of the pen, or not known to the tracer."""
    import difflib  # here, because a good kernel does without it

    text = f"Line {line} uses {module_name}.{name}, which "
    if isinstance(module, Cuda) and name in _OF_THE_HOST:
        return KernelError("compile", f"{text}is for the host: a kernel cannot call it.", line)
    near = difflib.get_close_matches(name, [each for each in dir(module) if each not in _NOT_NUMBAS], 1, 0.7)
    if near:
        return KernelError("compile", f"{text}does not exist. Did you mean {module_name}.{near[0]}?", line)
    if isinstance(module, Names) and module.__name__ == "math" and not hasattr(math, name):
        return KernelError("compile", f"{text}does not exist.", line)
    return KernelError("unsupported", f"{text}is not known to the tracer.", line)


#: Names of `numba.cuda` that beginners call from a kernel.
_OF_THE_HOST = (
    "as_cuda_array", "copy_to_host", "device_array", "device_array_like", "event", "jit", "pinned_array",
    "stream", "synchronize", "to_device",
)  # fmt: skip
#: What the tracer's `cuda` holds for itself.
_NOT_NUMBAS = {name for name in dir(CUDA) if name.startswith("_")} | {
    "fences", "name_at", "own_arrays", "shared_arrays", "shared_bytes",
}  # fmt: skip


def _is_constant(shape: ast.AST, function: Any, known: Mapping[str, Any]) -> bool:
    """Say whether Numba knows a shape: a number, or a name of one. It works out no arithmetic with names."""
    match shape:
        case ast.Constant():
            return True
        case ast.Tuple(elts=parts):
            return all(_is_constant(part, function, known) for part in parts)
        case ast.BinOp(left=ast.Constant(), right=ast.Constant()):
            return True
        case (
            ast.Subscript(value=ast.Name(id=name), slice=ast.Constant())
            | ast.Attribute(value=ast.Name(id=name))
        ):
            return isinstance(known.get(name), tuple | _Lookup)
        case ast.Name(id=name):
            return _is_constant_name(name, function, known)
    return False


def _is_constant_name(name: str, function: Any, known: Mapping[str, Any]) -> bool:
    """Say whether Numba knows what a name stands for: of the module, or set once to what it knows."""
    if name not in _local_names(function):
        return name in known
    values = []
    for statement in ast.walk(function):
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
            if name in names:
                value = statement.value  # type: ignore[attr-defined]
                # Of a tuple of the module, `rows, cols = SIDES` gives names to the parts.
                parts = value.elts if isinstance(value, ast.Tuple) and len(names) > 1 else [value]
                values.append(all(_is_constant(part, function, known) for part in parts))
    return values == [True]


# --- Rewriting -------------------------------------------------------------------------------------------


class _Rewriter(ast.NodeTransformer):
    """Makes a generator of a function that waits, lets loops tick, and marks branches."""

    def __init__(self, known: Mapping[str, Any], local: set[str], *, kernel: bool, branches: bool) -> None:
        self.known, self.local, self.kernel, self.branches = known, local, kernel, branches
        self._waits = False

    def waits(self, node: ast.AST) -> bool:
        """Say whether a function waits, or may do so by what it calls."""
        self._waits = any(isinstance(each, ast.Call) and self._way(each) for each in own(node))
        return self._waits

    def _value(self, target: ast.AST) -> tuple[Any, list[str]]:
        """Return what a dotted name stands for, as far as that is known before the launch, and its parts."""
        parts: list[str] = []
        while isinstance(target, ast.Attribute):
            parts.insert(0, target.attr)
            target = target.value
        if not isinstance(target, ast.Name):
            return None, parts
        value = None if target.id in self.local else self.known.get(target.id)
        for part in parts:
            value = vars(value).get(part) if isinstance(value, Cuda | Names) else getattr(value, part, None)
        return value, [target.id, *parts]

    def is_wait(self, target: ast.AST) -> bool:
        """Say whether an expression is an operation that waits, without its call."""
        value, _ = self._value(target)
        return getattr(value, "__name__", "") in WAITS and not isinstance(value, Names)

    def _way(self, call: ast.Call) -> str:
        """Return how a call waits: "" if it never does."""
        value, names = self._value(call.func)
        if not names:
            return "perhaps" if isinstance(call.func, ast.Lambda | ast.Call) else ""
        if names[0] in self.local:
            return "perhaps" if len(names) == 1 or names[-1] in WAITS else ""
        if self.is_wait(call.func):
            return "yield"
        ready = getattr(value, "__traced__", None)
        return "from" if ready is not None and ready.waits else ""

    def visit_Call(self, node: ast.Call) -> Any:
        way = self._way(node)
        self.generic_visit(node)
        if way == "yield":
            return ast.copy_location(ast.Yield(node), node)
        if way == "from":
            return ast.copy_location(ast.YieldFrom(node), node)
        if way == "perhaps":
            return ast.copy_location(ast.YieldFrom(_call("__finish__", node)), node)
        return node

    def _visit_loop(self, node: Any) -> Any:
        """Let each turn tick, and what comes after the loop know that it is over."""
        if isinstance(node, ast.While):
            node.test = self._marked(node.test)
        self.generic_visit(node)
        name = f"__loop_{node.lineno}__"
        enter = ast.Assign([ast.Name(name, ast.Store())], _call("__enter__"))
        loop = ast.Name(name, ast.Load())
        node.body.insert(
            0, ast.copy_location(ast.Expr(_call("__tick__", ast.Constant(node.lineno), loop)), node)
        )
        leave = ast.Expr(_call("__leave__", loop))
        return [ast.copy_location(enter, node), node, ast.copy_location(leave, node)]

    visit_For = visit_While = _visit_loop  # noqa: N815

    def visit_If(self, node: Any) -> Any:
        node.test = self._marked(node.test)
        self.generic_visit(node)
        return node

    visit_IfExp = visit_If  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Let a function within a kernel return what it does."""
        kernel, self.kernel = self.kernel, False
        self.visit_body(node)
        self.kernel = kernel
        return node

    def visit_body(self, node: ast.FunctionDef) -> None:
        """Rewrite what a function does."""
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> Any:
        """Let a kernel that waits hand over the line where a thread leaves it."""
        if self.kernel and self._waits and (node.value is None or isinstance(node.value, ast.Constant)):
            node.value = ast.copy_location(ast.Constant(node.lineno), node)
            return node
        return self.generic_visit(node)

    def _marked(self, test: ast.expr) -> ast.expr:
        return ast.copy_location(_call("__branch__", test), test) if self.branches else test


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [*arguments], [])


def _as_module(rewriter: _Rewriter, node: Any) -> ast.Module:
    """Return a module that holds the function alone."""
    if isinstance(node, ast.Lambda):
        target = ast.Name("__traced__", ast.Store())
        body: ast.stmt = ast.copy_location(ast.Assign([target], rewriter.visit(node)), node)
    else:
        rewriter.visit_body(node)
        body = node
    return ast.fix_missing_locations(ast.Module([body], []))
