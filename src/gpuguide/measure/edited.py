"""Other kernels in a study: `study(kernels=...)` times what a reader has edited, not the topic's own.

No module is changed. A launcher names its kernel as a global; if another one was passed in, the study gets a
copy of the launcher whose globals name that one. The same holds for everything that calls the launcher.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

from gpuguide.errors import ArgumentError, unknown

__all__ = ["Kernels", "exchanged", "kernels_in"]

Kernels = Mapping[str, Any] | None
"""Name of a kernel or a launcher -> what takes its place; None changes nothing."""

_TOPICS = "gpuguide.topics."


def kernels_in(calls: Iterable[Callable[..., Any]]) -> dict[str, Any]:
    """Find what the calls of a study use: launchers, kernels, and text in CUDA C++."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    todo: list[tuple[str, Any]] = [("", call) for call in calls]
    modules = {_module(call) for _, call in todo}
    while todo:
        name, thing = todo.pop(0)
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, str):
            # Text of one line is a name or an option; a source has several.
            if "\n" in thing:
                found.setdefault(name, thing)
        elif callable(thing) and hasattr(thing, "__name__") and _is_editable(thing, modules):
            found.setdefault(name or thing.__name__, thing)
        todo += _parts(thing, modules)
    return found


def exchanged(calls: Iterable[Callable[..., Any]], kernels: object) -> list[Callable[..., Any]]:
    """Return calls that use other kernels than their own."""
    calls = list(calls)
    if not isinstance(kernels, Mapping):
        raise ArgumentError(
            'kernels must be a mapping of names to kernels, such as {"my_kernel": my_kernel}; '
            f"got {kernels!r:.60}."
        )
    own = kernels_in(calls)
    for name, new in kernels.items():
        if name not in own:
            raise unknown("kernel", name, own)
        if not (isinstance(new, str) if isinstance(own[name], str) else callable(new)):
            kind = "text in CUDA C++" if isinstance(own[name], str) else "a kernel or a function"
            raise ArgumentError(f"kernels: {name!r} must be {kind}; got {new!r:.60}.")
    modules = {_module(each) for each in (*calls, *kernels.values())}
    exchange = _Exchange({id(own[name]): new for name, new in kernels.items()}, modules)
    return [exchange(call) for call in calls]


class _Exchange:
    """Copies what uses an old kernel, so that the copy uses the new one."""

    def __init__(self, new: dict[int, Any], modules: set[str]) -> None:
        self._new, self._modules = new, modules
        self._done: dict[int, tuple[Any, Any]] = {}  # keeps the old one, so that nothing else gets its id

    def __call__(self, thing: Any) -> Any:
        if id(thing) not in self._done:
            self._done[id(thing)] = thing, thing  # a function that calls itself ends here
            new = self._new.get(id(thing), thing)
            # A launcher that the reader edited may still use tables of the topic.
            self._done[id(thing)] = thing, self._copy(new)
        return self._done[id(thing)][1]

    def _copy(self, thing: Any) -> Any:
        old = [part for _, part in _parts(thing, self._modules)]
        # Parts first: a launcher must be copied if anything that it calls was copied.
        new = [self(part) for part in old]
        if all(one is other for one, other in zip(old, new, strict=True)):
            return thing
        if isinstance(thing, dict):
            return dict(zip(thing, new, strict=True))
        if isinstance(thing, tuple):
            return tuple(new)
        if isinstance(thing, functools.partial):
            return functools.partial(new[0], *new[1:], **thing.keywords)
        if not isinstance(thing, FunctionType):
            # With its own cache, because the old function's cache holds the old kernel's results.
            return functools.lru_cache(**thing.cache_parameters())(new[0])
        names = [name for name, _ in _parts(thing, self._modules)]
        copy = FunctionType(
            thing.__code__,
            {**thing.__globals__, **dict(zip(names, new, strict=True))},
            thing.__name__,
            thing.__defaults__,
            thing.__closure__,
        )
        copy.__kwdefaults__ = thing.__kwdefaults__
        return copy


def _module(call: Any) -> str:
    return (
        _module(call.func) if isinstance(call, functools.partial) else getattr(call, "__module__", "") or ""
    )


def _is_editable(thing: Any, modules: set[str]) -> bool:
    """Say whether it belongs to a topic or a reader, and not to the package or an installed module."""
    module = _module(thing)
    return module.startswith(_TOPICS) or module == "__main__" or module in modules


def _parts(thing: Any, modules: set[str]) -> list[tuple[str, Any]]:
    """Return the parts of a call, each with its name if it has one."""
    if isinstance(thing, functools.partial):
        return [("", thing.func), *(("", each) for each in thing.args)]
    if isinstance(thing, FunctionType):
        if not _is_editable(thing, modules):
            return []
        names = dict.fromkeys(_globals_read(thing.__code__))
        return [(name, thing.__globals__[name]) for name in names if name in thing.__globals__]
    if hasattr(thing, "cache_parameters"):
        return [("", thing.__wrapped__)]
    if isinstance(thing, dict):
        return [("", each) for each in thing.values()]
    return [("", each) for each in thing] if isinstance(thing, tuple) else []


def _globals_read(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        # Not `co_names`, which holds attributes as well: `x.size` would exchange a kernel named size.
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    # Functions inside it, lambdas and comprehensions: they read the same globals.
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals_read(inner)
