"""`Variant`: one way to do what a study is about, as data that is checked when made."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.results import Traffic, VariantInfo

__all__ = ["Variant", "first_line", "one_of"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEVICES = ("gpu", "cpu")
_CLOCKS = ("device", "end_to_end", "host", "first_call")
_ARRAYS = ("cupy", "numba", "host")


@dataclass(frozen=True)
class Variant:
    """One way to do what a study is about.

    Attributes
    ----------
    name : str
        Unique in its study; what results and the text call it.
    call : callable
        ``call(*inputs, out)`` fills ``out``; with `allocates`, ``call(*inputs)`` returns the result; with
        `mutates`, ``call(*inputs)`` leaves it in its first input.
    label : str
        For charts; by default the name with spaces.
    device : str
        ``"gpu"`` or ``"cpu"``.
    clock : str
        ``"device"`` (GPU time, and the launch apart), ``"end_to_end"`` (from the call until the result is
        there, copies included), ``"host"`` (CPU variants), ``"first_call"`` (fresh processes).
    arrays : str
        What the call is given: ``"cupy"``, ``"numba"`` (views made once) or ``"host"``. CPU variants always
        get host arrays; end-to-end ones do unless they ask for ``"numba"``: then the data is on the GPU
        already, and the time is that of launch and work.
    threads : int, optional
        CPU threads that it uses.
    traffic : callable, optional
        ``traffic(n, dtype)`` returns the `Traffic` of one call.
    mutates, allocates : bool
        See `call`.
    simulatable : bool
        Whether Numba's simulator can run it.
    batchable : bool
        Whether several calls may follow one another within a sample.
    max_size : int, optional
        Largest size it can do; above, a row says `max_size_reason`.
    max_size_reason : str
        Why.
    note : str
        One sentence; by default the first line of the call's docstring.
    target : str
        For ``clock="first_call"``: ``"module:function"``, called without arguments in each fresh process.

    Raises
    ------
    ArgumentError
        An argument has a value that does not fit; the message says which, and what was expected.

    Examples
    --------
    >>> import numpy as np
    >>> Variant("numpy", np.sort, device="cpu", clock="host", allocates=True).label
    'numpy'
    >>> Variant("mine", np.sort, device="gpo")
    Traceback (most recent call last):
        ...
    gpuguide.errors.ArgumentError: Variant 'mine': device must be 'gpu' or 'cpu'; got 'gpo' (meant 'gpu'?).
    """

    name: str
    call: Callable[..., Any]
    label: str = ""
    device: str = "gpu"
    clock: str = "device"
    arrays: str = "cupy"
    threads: int | None = None
    traffic: Callable[[int, np.dtype[Any]], Traffic] | None = None
    mutates: bool = False
    allocates: bool = False
    simulatable: bool = True
    batchable: bool = True
    max_size: int | None = None
    max_size_reason: str = ""
    note: str = ""
    target: str = ""

    def __post_init__(self) -> None:
        """Check the arguments and fill in the label and the note."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ArgumentError(
                f"Variant: name must be a word of letters, digits and underscores; got {self.name!r}."
            )
        self._check()
        if not self.label:
            object.__setattr__(self, "label", self.name.replace("_", " "))
        if not self.note:
            object.__setattr__(self, "note", first_line(self.call))

    def _check(self) -> None:
        where = f"Variant {self.name!r}"
        if not callable(self.call):
            raise ArgumentError(f"{where}: call must be callable; got {self.call!r}.")
        one_of(where, "device", self.device, _DEVICES)
        one_of(where, "clock", self.clock, _CLOCKS)
        one_of(where, "arrays", self.arrays, _ARRAYS)
        problem = self._contradiction()
        if problem:
            raise ArgumentError(f"{where}: {problem}")
        for name in ("threads", "max_size"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ArgumentError(f"{where}: {name} must be an integer of at least 1; got {value!r}.")

    def _contradiction(self) -> str:
        if self.device == "cpu" and self.clock not in ("host", "first_call"):
            return f"a CPU variant is timed by clock='host'; got {self.clock!r}."
        if self.device == "gpu" and self.clock == "host":
            return "clock='host' is for CPU variants; a GPU one takes 'device' or 'end_to_end'."
        if self.device == "gpu" and self.clock == "device" and self.arrays == "host":
            return "host arrays need clock='end_to_end', so that the copies are in the time."
        if self.mutates and self.allocates:
            return "it cannot both allocate its result and leave it in its first input; set one of the two."
        if (self.clock == "first_call") != bool(self.target):
            return "clock='first_call' and target='module:function' need each other."
        return ""

    @property
    def needs_gpu(self) -> bool:
        """Whether it runs on the GPU."""
        return self.device == "gpu"

    @property
    def space(self) -> str:
        """Where its arrays lie: ``"host"`` or ``"device"``."""
        copies = self.clock == "end_to_end" and self.arrays != "numba"
        on_host = self.device == "cpu" or copies or self.arrays == "host"
        return "host" if on_host else "device"

    @property
    def takes_output(self) -> bool:
        """Whether the call's last argument is the output."""
        return not (self.allocates or self.mutates)

    def info(self) -> VariantInfo:
        """Return what results keep of it."""
        call = _innermost(self.call)
        name = getattr(call, "__qualname__", type(call).__qualname__)
        return VariantInfo(
            name=self.name,
            label=self.label,
            note=self.note,
            device=self.device,
            clock=self.clock,
            threads=self.threads,
            source=f"{getattr(call, '__module__', None) or type(call).__module__}.{name}",
            allocates=self.allocates,
            mutates=self.mutates,
        )


def one_of(where: str, name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise ArgumentError, with the nearest word, unless a value is one of those allowed.

    Parameters
    ----------
    where : str
        What the message starts with.
    name : str
        The argument.
    value : object
        What came.
    allowed : tuple of str
        What may come.
    """
    if value in allowed:
        return
    near = difflib.get_close_matches(str(value), allowed, n=1)
    hint = f" (meant {near[0]!r}?)" if near else ""
    listed = " or ".join([", ".join(map(repr, allowed[:-1])), repr(allowed[-1])])
    raise ArgumentError(f"{where}: {name} must be {listed}; got {value!r}{hint}.")


def _innermost(call: Any) -> Any:
    return _innermost(call.func) if isinstance(call, functools.partial) else call


def first_line(thing: object) -> str:
    """Return the first line of what somebody wrote as docstring, or ``""``.

    Parameters
    ----------
    thing : object
        A function, a ``functools.partial`` of one, or an object.

    Returns
    -------
    str
        Without the indentation.

    Examples
    --------
    >>> first_line(first_line)
    'Return the first line of what somebody wrote as docstring, or ``""``.'
    """
    thing = _innermost(thing)
    text = getattr(thing, "__doc__", None) or ""
    if text.startswith(type(thing).__name__ + "("):
        return ""  # what dataclasses write when nobody wrote one
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
