"""Executes a reader's file with stand-ins for Numba in place, and gives its functions."""

from __future__ import annotations

import builtins
import linecache
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from gpuguide.tracer.names import CUDA, Names
from gpuguide.tracer.numbers import DTYPES
from gpuguide.tracer.source import NUMBA, Program

__all__ = ["Configured", "Kernel", "Loaded", "load"]


class Kernel:
    """What ``@cuda.jit`` makes of a function: it is launched with ``kernel[blocks, threads](...)``."""

    def __init__(
        self, function: Callable[..., Any], launched: Callable[[Configured, Sequence[Any]], Any]
    ) -> None:
        self.py_func, self._launched = function, launched
        self.__name__, self.__doc__, self.__module__ = (
            function.__name__,
            function.__doc__,
            function.__module__,
        )

    def __getitem__(self, configuration: Sequence[Any]) -> Configured:
        blocks, threads, *others = configuration
        return Configured(self, blocks, threads, int(others[1]) if len(others) > 1 else 0)

    configure = lambda self, *configuration: self[configuration]  # noqa: E731

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Configured:
        """Configure a launch of so many threads."""
        threads = tpb or 128
        return Configured(self, -(-ntasks // threads), threads, sharedmem)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.py_func(*arguments, **named)


class Configured:
    """A kernel with its blocks and threads."""

    def __init__(self, kernel: Kernel, blocks: Any, threads: Any, shared_bytes: int = 0) -> None:
        self.kernel, self.griddim, self.blockdim, self.sharedmem = kernel, blocks, threads, shared_bytes

    def __call__(self, *arguments: Any) -> Any:
        return self.kernel._launched(self, arguments)


class Loaded(SimpleNamespace):
    """The names of a file that was executed, as attributes."""

    functions: Mapping[str, Any]


def load(source: str, filename: str = "<answer>", *, launched: Callable[..., Any] | None = None) -> Loaded:
    """Execute the text of a file with stand-ins for Numba and NumPy in place.

    Parameters
    ----------
    source : str
        The text.
    filename : str
        What its file is called; tracebacks and findings name its lines.
    launched : callable, optional
        Gets each launch that the file itself makes, and its arguments; by default they are left out.

    Returns
    -------
    Loaded
        Its names as attributes; `functions` holds the functions and kernels that it defines, in their order.
    """
    code = compile(source, filename, "exec")
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    modules = host_modules(launched or (lambda configured, arguments: None))

    def imported(name: str, space: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        module = modules.get(name)
        if module is None:
            return builtins.__import__(name, space, local, fromlist, level)
        return module if fromlist else modules[name.partition(".")[0]]

    space: dict[str, Any] = {"__name__": "answer", "__file__": filename}
    space["__builtins__"] = {**vars(builtins), "__import__": imported}
    exec(code, space)  # a reader's own file, which Python would execute, too
    names = {name: value for name, value in space.items() if not name.startswith("__")}
    return Loaded(functions={name: value for name, value in names.items() if _is_own(value)}, **names)


def _is_own(value: Any) -> bool:
    function = getattr(value, "py_func", value)
    return callable(function) and getattr(function, "__module__", "") == "answer"


class HostCuda(Names):
    """`numba.cuda` for a host: decorators, and the names of a kernel."""

    def __init__(self, launched: Callable[..., Any]) -> None:
        super().__init__("numba.cuda")
        self._launched = launched

    def __getattr__(self, name: str) -> Any:
        return getattr(CUDA, name)

    def jit(self, *given: Any, **_: Any) -> Any:
        """Make a kernel, or a function for kernels; signatures and options change nothing here."""
        if len(given) == 1 and callable(given[0]) and hasattr(given[0], "__code__"):
            return Kernel(given[0], self._launched)
        return lambda function: Kernel(function, self._launched)


def host_modules(launched: Callable[..., Any]) -> dict[str, Any]:
    """Return the stand-ins by the names under which they are imported."""
    cuda = HostCuda(launched)
    maths = Program()
    types = Names("numba.types", **DTYPES)
    numba = Names("numba", cuda=cuda, types=types, **DTYPES)
    modules: dict[str, Any] = {"numpy": maths.numpy}
    for name in NUMBA:
        modules |= {name: numba, f"{name}.cuda": cuda, f"{name}.types": types}
    return modules
