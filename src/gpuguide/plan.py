"""What a study is, as data: variants, sizes, inputs and how a result is judged, all checked when made."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from gpuguide.buffers import blocks
from gpuguide.errors import ArgumentError, unknown
from gpuguide.tolerance import Tolerance
from gpuguide.variants import Variant, first_line, one_of

__all__ = ["Check", "Plan", "Variant", "check_sizes", "generator"]

_CACHES = ("warm", "cold")


class Check(Protocol):
    """What replaces a reference where the right answer is not one array: a sort's, a factorisation's.

    Both methods get arrays of one memory, NumPy or CuPy: take functions from `backends.array_module`. The
    first line of the class's docstring is what a study shows as its tolerance.
    """

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Return what `compare` needs to know of the inputs (a hash, a norm, the inputs themselves)."""
        ...

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Return the largest difference and its tolerance; raise `MismatchError` saying what is wrong."""
        ...


@dataclass(frozen=True)
class Plan:
    """A study without its verbs: the data that the gate and the run loop read; see `gpuguide.Study`."""

    name: str
    title: str
    variants: tuple[Variant, ...]
    sizes: tuple[int, ...]
    inputs: Callable[[int, np.dtype[Any], np.random.Generator, bool], tuple[Any, ...]]
    reference: Callable[..., Any] | None = None
    check: Check | None = None
    output: Callable[[int, np.dtype[Any]], tuple[Any, Any]] | None = None
    dtype: str = "float32"
    tolerance: Tolerance = field(default_factory=Tolerance)
    cache: str = "warm"
    size_name: str = "elements"
    input_note: str = ""
    baseline: str = ""

    def __post_init__(self) -> None:
        """Check the arguments."""
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ArgumentError(f"Study: name must be an identifier; got {self.name!r}.")
        where = f"Study {self.name!r}"
        object.__setattr__(self, "variants", _variants(where, self.variants))
        object.__setattr__(self, "sizes", check_sizes(where, self.sizes))
        one_of(where, "cache", self.cache, _CACHES)
        self._check_judge(where)
        try:
            np.dtype(self.dtype)
        except TypeError:
            raise ArgumentError(
                f"{where}: dtype must name a NumPy type such as 'float32'; got {self.dtype!r}."
            ) from None
        if self.baseline and self.baseline not in [variant.name for variant in self.variants]:
            raise ArgumentError(f"{where}: baseline: {unknown('variant', self.baseline, self.names)}")

    def _check_judge(self, where: str) -> None:
        if not callable(self.inputs):
            raise ArgumentError(
                f"{where}: inputs must be a callable of (n, dtype, rng, exact); got {self.inputs!r}."
            )
        if (self.reference is None) == (self.check is None):
            came = "neither" if self.reference is None else "both"
            raise ArgumentError(f"{where}: expected reference= or check=, one of the two; got {came}.")
        if self.check is not None and not (hasattr(self.check, "prepare") and hasattr(self.check, "compare")):
            raise ArgumentError(
                f"{where}: check must have prepare(inputs) and compare(output, prepared); got {self.check!r}."
            )
        if not isinstance(self.tolerance, Tolerance):
            raise ArgumentError(f"{where}: tolerance must be a Tolerance; got {self.tolerance!r}.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variants, in order."""
        return tuple(variant.name for variant in self.variants)

    @property
    def tolerance_note(self) -> str:
        """How results are judged, in a few words."""
        if self.check is not None:
            return first_line(self.check) or type(self.check).__name__
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
        """Make the inputs of one size, the same each time.

        Parameters
        ----------
        n : int
            The size.
        exact : bool
            Whether they are to give an exact result in any order.
        seed : int
            Another one gives other random numbers.

        Returns
        -------
        tuple
            NumPy arrays and scalars.

        Raises
        ------
        ArgumentError
            The study's `inputs` returns something else, or constants to be timed on.
        """
        rng = generator(self.name, n, "exact" if exact else "random", seed)
        made = self.inputs(n, np.dtype(self.dtype), rng, exact)
        where = f"Study {self.name!r}: inputs"
        if not isinstance(made, tuple) or not all(
            isinstance(x, np.ndarray | np.generic | int | float) for x in made
        ):
            raise ArgumentError(
                f"{where} must return a tuple of NumPy arrays and numbers; got {type(made).__name__}."
            )
        arrays = [x for x in made if isinstance(x, np.ndarray) and x.size > 8]
        if not exact and arrays and all(map(_is_constant, arrays)):
            raise ArgumentError(
                f"{where} must vary: nothing is timed on constants, which hide what data cost."
            )
        return made

    def output_spec(self, n: int, inputs: tuple[Any, ...]) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and dtype of the result: the study's `output`, or those of the first input."""
        if self.output is not None:
            shape, dtype = self.output(n, np.dtype(self.dtype))
            return (shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype)
        if not inputs or not isinstance(inputs[0], np.ndarray):
            raise ArgumentError(
                f"Study {self.name!r}: without an array as first input it needs "
                "output=lambda n, dtype: (shape, dtype)."
            )
        return inputs[0].shape, inputs[0].dtype


def generator(*words: object) -> np.random.Generator:
    """Return a random generator that depends on the words and on nothing else.

    Parameters
    ----------
    *words
        Their text is hashed by SHA-256, since Python's own hash differs in each process.

    Returns
    -------
    numpy.random.Generator
        PCG64.

    Examples
    --------
    >>> int(generator("sort", 1024, "random", 0).integers(1000))
    676
    """
    digest = hashlib.sha256("\x1f".join(map(str, words)).encode()).digest()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(digest, "big"))))


def check_sizes(where: str, sizes: Sequence[int], least: int = 1) -> tuple[int, ...]:
    """Return sizes as a tuple of increasing integers, or raise ArgumentError.

    Parameters
    ----------
    where : str
        What the message starts with.
    sizes : sequence of int
        The sizes.
    least : int
        Smallest one allowed.

    Returns
    -------
    tuple of int
        The sizes.

    Examples
    --------
    >>> check_sizes("Study 'sort'", [1, 2])
    (1, 2)
    """
    if isinstance(sizes, str | int) or not len(sizes):
        raise ArgumentError(f"{where}: sizes must be a sequence of at least one integer; got {sizes!r}.")
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < least:
            raise ArgumentError(f"{where}: every size must be an integer of at least {least}; got {size!r}.")
    listed = tuple(int(size) for size in sizes)
    for before, after in pairwise(listed):
        if after <= before:
            raise ArgumentError(f"{where}: sizes must increase; got {after} after {before}.")
    return listed


def _variants(where: str, variants: Sequence[Variant]) -> tuple[Variant, ...]:
    given = tuple(variants) if isinstance(variants, Sequence) else ()
    if not given or not all(isinstance(variant, Variant) for variant in given):
        raise ArgumentError(
            f"{where}: variants must be a sequence of at least one Variant; got {variants!r}."
        )
    names = [variant.name for variant in given]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"{where}: two variants are named {name!r}; names must differ.")
    return given


def _is_constant(x: np.ndarray[Any, Any]) -> bool:
    flat = x.reshape(-1)
    return not any(bool((flat[part] != flat[0]).any()) for part in blocks(flat.size))
