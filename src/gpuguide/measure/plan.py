"""What a study is before it runs, as data: its variants, sizes and inputs, and how it is written as text."""

from __future__ import annotations

import difflib
import functools
import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError, unknown
from gpuguide.machine.backends import RawKernel, current_stream, numba
from gpuguide.machine.device import DeviceInfo
from gpuguide.measure.buffers import blocks, first_difference
from gpuguide.measure.reference import Tolerance
from gpuguide.results.description import StudyDescription
from gpuguide.results.records import Traffic, VariantInfo, Work
from gpuguide.results.units import format_size

_DEVICES = ("gpu", "cpu")
_CLOCKS = ("device", "end_to_end", "host")
_ARRAYS = ("cupy", "numba", "host", "pinned")
_CACHES = ("warm", "cold")


@dataclass(frozen=True)
class Variant:
    """One way of computing what a study is about.

    Attributes
    ----------
    name : str
        Unique in its study; what results and the text call it.
    call : callable
        ``call(*inputs, out)`` fills ``out``; with `allocates`, ``call(*inputs)`` returns the result; with
        `mutates`, ``call(*inputs)`` leaves it in its first input. With `grid`, a kernel that takes the same.
    label : str
        For charts; by default the name with spaces.
    device : str
        ``"gpu"`` or ``"cpu"``.
    clock : str
        ``"device"`` (GPU time, and the launch apart), ``"end_to_end"`` (from the call until the result is
        there, copies included) or ``"host"`` (CPU variants).
    arrays : str
        The kind of arrays that the call gets: ``"cupy"``, ``"numba"`` (views made once) or ``"host"``. CPU
        variants always get host arrays; end-to-end ones do unless they ask for ``"numba"``: then the data is
        on the GPU already, and the time is that of launch and work; or for ``"pinned"``: host arrays in
        pinned memory, which the GPU copies by itself.
    threads : int, optional
        CPU threads that it uses.
    grid : callable, optional
        ``grid(n)`` returns blocks and threads per block of the kernel's launch at a size, and, as a third,
        bytes of dynamic shared memory. The kernel is configured once, outside of all clocks, and never
        launched on no elements.
    arguments : callable, optional
        ``arguments(*inputs, out)`` returns those that the kernel takes, in its order; by default all.
    traffic : callable, optional
        ``traffic(n, dtype)`` returns the `Traffic` of one call; by default the study's, unless the call is
        timed from end to end.
    work : mapping of str to callable
        What else a call does, counted exactly on the host: ``{"warp_steps": count}``. ``count(n)`` returns an
        integer; if it has a parameter `dtype`, it is called as ``count(n, dtype)``.
    work_ceilings : mapping of str to callable
        For some of the work, the most that a GPU can do per second: ``ceiling(device)`` computes it from the
        `DeviceInfo`.
    mutates, allocates : bool
        See `call`; by default `mutates` is the study's ``in_place``.
    simulatable : bool
        Whether Numba's simulator can run it.
    batchable : bool
        Whether several calls may follow one another within a sample.
    up_to : int, optional
        Largest size that it runs at; for larger ones, a row says `because`.
    because : str
        Why; by default, to keep the run short.
    missing : str or callable
        Why it cannot run here, such as a library that is not installed; ``""`` if it can.
    note : str
        One sentence; by default the first line of the call's docstring.
    output : callable, optional
        ``output(n, dtype)`` returns shape and dtype of its result, if that is laid out differently from the
        study's. The study's `check` must then handle both.

    Raises
    ------
    ArgumentError
        An argument has a value that does not fit; the message says which one and what was expected.

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
    grid: Callable[[int], tuple[Any, ...]] | None = None
    arguments: Callable[..., tuple[Any, ...]] | None = None
    traffic: Callable[[int, np.dtype[Any]], Traffic] | None = None
    # Mappings have no hash, and the name alone identifies a variant.
    work: Mapping[str, Callable[..., int]] = field(default_factory=dict, hash=False)
    work_ceilings: Mapping[str, Callable[[DeviceInfo], float]] = field(default_factory=dict, hash=False)
    mutates: bool | None = None
    allocates: bool = False
    simulatable: bool = True
    batchable: bool = True
    up_to: int | None = None
    because: str = ""
    missing: str | Callable[[], str] = ""
    note: str = ""
    output: Callable[[int, np.dtype[Any]], tuple[Any, Any]] | None = None

    def __post_init__(self) -> None:
        """Check the arguments and fill in the label and the note."""
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ArgumentError(
                f"Variant: name must be a word of letters, digits and underscores; got {self.name!r}."
            )
        where = f"Variant {self.name!r}"
        if not (self.grid or callable(self.call)):
            raise ArgumentError(f"{where}: call must be callable; got {self.call!r}.")
        one_of(where, "device", self.device, _DEVICES)
        one_of(where, "clock", self.clock, _CLOCKS)
        one_of(where, "arrays", self.arrays, _ARRAYS)
        if contradiction := self._contradiction():
            raise ArgumentError(f"{where}: {contradiction}")
        for name in self.work_ceilings:
            if name not in self.work:
                raise ArgumentError(f"{where}: work_ceilings: {unknown('work', name, self.work)}")
        # Via `object`, because the dataclass is frozen.
        if not self.label:
            object.__setattr__(self, "label", self.name.replace("_", " "))
        if not self.note:
            object.__setattr__(self, "note", first_line(self.call))

    def _contradiction(self) -> str:
        if self.device == "cpu" and self.clock != "host":
            return f"a CPU variant is timed by clock='host'; got {self.clock!r}."
        if self.device == "cpu" and self.work_ceilings:
            return "work_ceilings are those of a GPU, and it runs on the CPU."
        if self.device == "gpu" and self.clock == "host":
            return "clock='host' is for CPU variants; a GPU one takes 'device' or 'end_to_end'."
        if self.device == "gpu" and self.clock == "device" and self.arrays in ("host", "pinned"):
            return f"{self.arrays} arrays need clock='end_to_end', so that the copies are in the time."
        if self.mutates and self.allocates:
            return "it cannot both allocate its result and leave it in its first input; set one of the two."
        return ""

    def why_missing(self) -> str:
        """Say why it cannot run here; empty if it can."""
        return self.missing() if callable(self.missing) else self.missing

    def on(self, size: int, arguments: tuple[Any, ...]) -> Callable[[], Any]:
        """Return the call on its arguments; a kernel is configured here, so clocks see the launch alone."""
        if self.grid is None:
            return functools.partial(self.call, *arguments)
        if size == 0:
            return lambda: None  # CUDA knows no empty grid
        if self.arguments is not None:
            arguments = self.arguments(*arguments)
        blocks, threads, *shared = self.grid(size)
        if isinstance(self.call, RawKernel):
            return self.call.on(_axes(blocks), _axes(threads), arguments, *shared)
        kernel: Any = self.call
        return functools.partial(kernel[(blocks, threads, current_stream(), *shared)], *arguments)

    def counted(self, size: int, dtype: np.dtype[Any], device: DeviceInfo | None) -> tuple[Work, ...]:
        """Count the work of one call, and compute its ceilings if the GPU is known."""
        made = []
        for name, count in self.work.items():
            with_dtype = "dtype" in inspect.signature(count).parameters
            n = count(size, dtype) if with_dtype else count(size)
            # To Python, True is an integer; a float would not be an exact count.
            if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
                raise ArgumentError(
                    f"Variant {self.name!r}: work {name!r} must be counted exactly, as an integer of at "
                    f"least 0; got {n!r} at {format_size(size)}."
                )
            ceiling = self.work_ceilings.get(name) if device else None
            made.append(Work(name, int(n), float(ceiling(device)) if ceiling and device else None))
        return tuple(made)

    @property
    def needs_gpu(self) -> bool:
        """Whether it runs on the GPU."""
        return self.device == "gpu"

    @property
    def space(self) -> str:
        """Where its arrays lie: ``"host"``, ``"pinned"`` or ``"device"``."""
        if self.needs_gpu and self.arrays == "pinned":
            return "pinned"
        copies = self.clock == "end_to_end" and self.arrays != "numba"
        on_host = self.device == "cpu" or copies or self.arrays == "host"
        return "host" if on_host else "device"

    @property
    def takes_output(self) -> bool:
        """Whether the call's last argument is the output."""
        return not (self.allocates or self.mutates)

    def info(self) -> VariantInfo:
        """Return the description that results keep."""
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
            mutates=bool(self.mutates),
        )


def _axes(extent: Any) -> tuple[int, ...]:
    return extent if isinstance(extent, tuple) else (extent,)


def kernel(call: Any, label: str, grid: Callable[[int], tuple[Any, ...]], **options: Any) -> Variant:
    """Return a variant that launches a kernel on views made once, timed by the GPU's clock."""
    raw: dict[str, Any] = {"simulatable": False} if isinstance(call, RawKernel) else {"arrays": "numba"}
    return _variant(call, label, raw | options, grid=grid)


def gpu(call: Any, label: str, **options: Any) -> Variant:
    """Return a variant on CuPy arrays, timed by the GPU's clock; the simulator has none of them."""
    return _variant(call, label, options, simulatable=False)


def end_to_end(call: Any, label: str, **options: Any) -> Variant:
    """Return a variant that takes host arrays to the GPU, timed from the call until the result is back."""
    return _variant(call, label, options, clock="end_to_end", simulatable=False)


def cpu(call: Any, label: str, threads: int | str = 1, **options: Any) -> Variant:
    """Return a variant on the CPU, timed by the host's clock; on one thread, several, or "all" of Numba's."""
    n_threads = int(numba().get_num_threads()) if threads == "all" else threads
    return _variant(call, label, options, device="cpu", clock="host", threads=n_threads)


def _variant(call: Any, label: str, options: dict[str, Any], **fixed: Any) -> Variant:
    """Name a variant after its function."""
    given = fixed | options
    return Variant(given.pop("name", None) or _own_name(call), call, label, **given)


def _own_name(call: Any) -> str:
    inner = _innermost(call)
    return str(getattr(inner, "__name__", None) or getattr(inner, "name", ""))


def per_element(
    *, reads: float, writes: float, flops: float = 0, unit: str = "fp32"
) -> Callable[[int, Any], Traffic]:
    """Make the traffic of a call that reads and writes whole arrays of the study's dtype, each once."""

    def traffic(n: int, dtype: Any) -> Traffic:
        n_bytes = n * np.dtype(dtype).itemsize
        return Traffic(int(reads * n_bytes), int(writes * n_bytes), int(flops * n), unit)

    return traffic


def one_of(where: str, name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise ArgumentError, with the nearest word, unless a value is one of those allowed."""
    if value in allowed:
        return
    near = difflib.get_close_matches(str(value), allowed, n=1)
    hint = f" (meant {near[0]!r}?)" if near else ""
    listed = " or ".join([", ".join(map(repr, allowed[:-1])), repr(allowed[-1])])
    raise ArgumentError(f"{where}: {name} must be {listed}; got {value!r}{hint}.")


def _innermost(call: Any) -> Any:
    # A partial has neither a name nor a docstring of its own, and a compiled function those of its source.
    if isinstance(call, functools.partial):
        return _innermost(call.func)
    return getattr(call, "py_func", call)


def first_line(thing: object) -> str:
    """Return the first line of a docstring that somebody wrote, or ``""``."""
    thing = _innermost(thing)
    text = getattr(thing, "__doc__", None) or ""
    if text.startswith(type(thing).__name__ + "("):
        return ""  # what dataclasses generate when there is none
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


class Check(Protocol):
    """Replaces a reference if the right answer is not a single array, as for a sort or a factorisation.

    Both methods get arrays of one memory, NumPy or CuPy: take functions from `backends.array_module`. The
    first line of the class's docstring is what a study shows as its tolerance.
    """

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Return what `compare` needs to know of the inputs (a hash, a norm, the inputs themselves)."""
        ...

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Return the largest difference and its tolerance; raise `MismatchError` saying what is wrong."""
        ...


# The first line of its docstring is data: pages show it as the tolerance.
class _Equal:
    """Every element equals the reference, to the last bit."""

    def __init__(self, reference: Callable[..., Any]) -> None:
        self.prepare = lambda inputs: reference(*inputs)

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Compare in the memory that holds the result, much faster for large arrays than on the host."""
        if output.shape != prepared.shape:
            raise MismatchError(f"The output should have shape {prepared.shape}; it has {output.shape}.")
        output, prepared = output.reshape(-1), prepared.reshape(-1)
        first = first_difference(output, prepared)
        if first is None:
            return 0.0, 0.0
        expected, got = prepared[first].item(), output[first].item()
        raise MismatchError(f"The element at {first} is wrong: expected {expected!r}, got {got!r}.")


@dataclass(frozen=True)
class Plan:
    """The data of a study that the gate and the run loop read; see `gpuguide.Study`."""

    name: str
    title: str
    variants: tuple[Variant, ...]
    sizes: tuple[int, ...]
    inputs: Callable[[int, np.dtype[Any], np.random.Generator, bool], tuple[Any, ...]]
    reference: Callable[..., Any] | None = None
    equal: bool = False
    check: Check | None = None
    output: Callable[[int, np.dtype[Any]], tuple[Any, Any]] | None = None
    dtype: str = "float32"
    tolerance: Tolerance = field(default_factory=Tolerance)
    cache: str = "warm"
    size_name: str = "elements"
    input_note: str = ""
    baseline: str = ""
    traffic: Callable[[int, np.dtype[Any]], Traffic] | None = None
    in_place: bool = False
    small: tuple[int, ...] = (0, 1, 257)
    answer: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        """Check the arguments, and fill in what the variants leave to the study."""
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ArgumentError(f"Study: name must be an identifier; got {self.name!r}.")
        where = f"Study {self.name!r}"
        given = self.variants if isinstance(self.variants, Sequence) else ()
        if not given or not all(isinstance(variant, Variant) for variant in given):
            raise ArgumentError(
                f"{where}: variants must be a sequence of at least one Variant; got {self.variants!r}."
            )
        if repeated := [name for name in self.names if self.names.count(name) > 1]:
            raise ArgumentError(f"{where}: two variants are named {repeated[0]!r}; names must differ.")
        object.__setattr__(self, "variants", tuple(map(self._completed, self.variants)))
        object.__setattr__(self, "sizes", check_sizes(where, self.sizes))
        one_of(where, "cache", self.cache, _CACHES)
        if (self.reference is None) == (self.check is None):
            came = "neither" if self.reference is None else "both"
            raise ArgumentError(f"{where}: expected either reference= or check=; got {came}.")
        own = [variant.name for variant in self.variants if variant.output is not None]
        if own and self.check is None:
            raise ArgumentError(
                f"{where}: {own[0]!r} has an output of its own, so the study needs check= to compare both."
            )
        if self.equal and self.reference is None:
            raise ArgumentError(f"{where}: equal=True asks for a result equal to reference=; got check=.")
        if not isinstance(self.tolerance, Tolerance):
            raise ArgumentError(f"{where}: tolerance must be a Tolerance; got {self.tolerance!r}.")
        if self.baseline and self.baseline not in self.names:
            raise ArgumentError(f"{where}: baseline: {unknown('variant', self.baseline, self.names)}")

    def _completed(self, variant: Variant) -> Variant:
        """Fill in what a variant leaves to its study."""
        left: dict[str, Any] = {}
        if variant.mutates is None:
            left["mutates"] = self.in_place and not variant.allocates
        if variant.traffic is None and variant.clock != "end_to_end":
            left["traffic"] = self.traffic
        if variant.up_to is not None and not variant.because:
            size = format_size(variant.up_to)
            left["because"] = f"left out above {size} {self.size_name} to keep the run short"
        return replace(variant, **left)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variants, in order."""
        return tuple(variant.name for variant in self.variants)

    @property
    def judge(self) -> Check | None:
        """The check that compares results; None if the reference does, within the tolerance."""
        return _Equal(self.reference) if self.equal and self.reference is not None else self.check

    @property
    def tolerance_note(self) -> str:
        """How results are judged, in a few words."""
        if self.judge is not None:
            return first_line(self.judge) or type(self.judge).__name__
        return str(self.tolerance) if np.dtype(self.dtype).kind in "fc" else "equal"

    def variant(self, name: str) -> Variant:
        """Return the variant of that name; an unknown one is an error with the nearest."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise unknown("variant", name, self.names)

    def chosen(self, names: Sequence[str] | None) -> tuple[Variant, ...]:
        """Return the variants of these names, or all."""
        if isinstance(names, str):
            raise ArgumentError(f"variants must be a sequence of names, such as [{names!r}]; got a string.")
        return self.variants if names is None else tuple(self.variant(name) for name in names)

    def make_inputs(self, n: int, *, exact: bool, seed: int = 0) -> tuple[Any, ...]:
        """Make the inputs of one size, the same each time."""
        rng = generator(self.name, n, "exact" if exact else "random", seed)
        made = self.inputs(n, np.dtype(self.dtype), rng, exact)
        where = f"Study {self.name!r}: inputs"
        plain = np.ndarray | np.generic | int | float
        if not isinstance(made, tuple) or not all(isinstance(x, plain) for x in made):
            raise ArgumentError(
                f"{where} must return a tuple of NumPy arrays and numbers; got {type(made).__name__}."
            )
        # A few numbers may well be equal, and exact inputs are never timed.
        arrays = [x for x in made if isinstance(x, np.ndarray) and x.size > 8]
        if not exact and arrays and all(map(_is_constant, arrays)):
            raise ArgumentError(
                f"{where} must vary: constants are never timed, because they hide the cost of data."
            )
        return made

    def output_spec(
        self, n: int, inputs: tuple[Any, ...], variant: Variant | None = None
    ) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and dtype of a result: the variant's `output`, the study's, or as the first input."""
        output = (variant.output if variant else None) or self.output
        if output is not None:
            shape, dtype = output(n, np.dtype(self.dtype))
            return (shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype)
        if not inputs or not isinstance(inputs[0], np.ndarray):
            raise ArgumentError(
                f"Study {self.name!r}: without an array as first input it needs "
                "output=lambda n, dtype: (shape, dtype)."
            )
        return inputs[0].shape, inputs[0].dtype


def generator(*words: object) -> np.random.Generator:
    """Return a random generator that depends on the words and on nothing else."""
    # Joined by a character that no name holds, so that ("a1", 2) and ("a", 12) are two generators.
    digest = hashlib.sha256("\x1f".join(map(str, words)).encode()).digest()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(digest, "big"))))


def check_sizes(where: str, sizes: Iterable[int], least: int = 1) -> tuple[int, ...]:
    """Return sizes as a tuple of increasing integers, or raise ArgumentError."""
    listed = tuple(sizes)
    whole = bool(listed) and all(isinstance(size, int | np.integer) and size >= least for size in listed)
    if not whole or sorted(set(listed)) != list(listed):
        raise ArgumentError(
            f"{where}: sizes must be integers of at least {least}, each larger than the one before; "
            f"got {sizes!r}."
        )
    return tuple(map(int, listed))


def _is_constant(x: np.ndarray[Any, Any]) -> bool:
    flat = x.reshape(-1)
    # In blocks: random numbers differ in the first one, so the other gigabytes are never read.
    return not any(bool((flat[part] != flat[0]).any()) for part in blocks(flat.size))


def description(plan: Plan) -> StudyDescription:
    """Describe a study: its variants, sizes, inputs and tolerance."""
    within = plan.tolerance_note
    if plan.judge is None and within != "equal":
        within = f"equal on exact inputs; on random ones within {within}"
    baseline = plan.variant(plan.baseline).label if plan.baseline else ""
    notes = (
        ("Inputs", plan.input_note),
        ("Right means", within),
        ("Compared with", baseline),
        ("Cache", plan.cache),
    )
    rows = tuple(_row(plan, variant) for variant in plan.variants)
    shown = tuple((name, note) for name, note in notes if note)
    return StudyDescription(plan.title, rows, plan.sizes, plan.size_name, plan.dtype, shown)


def _row(plan: Plan, variant: Variant) -> tuple[str, str, str, str, str]:
    threads = {None: "", 1: ", 1 thread"}.get(variant.threads, f", {variant.threads} threads")
    runs_on = "GPU" if variant.needs_gpu else f"CPU{threads}"
    n, traffic = plan.sizes[-1], variant.traffic
    bytes_an_element = f"{traffic(n, np.dtype(plan.dtype)).bytes_total / n:.3g}" if traffic else ""
    return variant.label, runs_on, variant.clock, bytes_an_element, variant.note
