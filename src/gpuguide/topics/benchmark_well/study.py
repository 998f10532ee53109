"""What six wrong clocks are held against: a maximum, warm and cold, and roots that replace their guesses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.benchmark_well.square_roots import (
    far_guesses,
    improve,
    improve_traffic,
    roots_reference,
    square_root,
    square_root_traffic,
)
from gpuguide.topics.launch_sizes.maximum import (
    INPUT_NOTE,
    maximum,
    maximum_inputs,
    maximum_reference,
    maximum_traffic,
)

SIZES = (2**16, 2**18, 2**20, 2**21, 2**24, 2**26)
ROOT_SIZES = (2**12, 2**14, 2**16, 2**18, 2**20, 2**22)


def study() -> Study:
    """Describe the maximum of two vectors, found from a cold cache each time.

    Returns
    -------
    Study
        One and four elements a thread, from 2**16 to 2**26 float32.

    Examples
    --------
    >>> study().cache, 2**21 in study().sizes
    ('cold', True)
    """
    return _maximum("cold")


def warm_study() -> Study:
    """Describe the same maximum, called again and again on the same arrays.

    Returns
    -------
    Study
        The variants and sizes of `study`.

    Examples
    --------
    >>> warm_study().cache
    'warm'
    """
    return _maximum("warm")


def roots_study() -> Study:
    """Describe square roots in place, with the first guesses put back before each call, from a cold cache.

    Returns
    -------
    Study
        Newton's method and the GPU's own square root, from 2**12 to 2**22 float64.

    Examples
    --------
    >>> [variant.name for variant in roots_study().variants]
    ['newton', 'sqrt']
    """
    return Study(
        name="roots",
        title="Square roots in place",
        variants=(
            _in_place("newton", improve, "Newton's method", improve_traffic),
            _in_place("sqrt", square_root, "math.sqrt", square_root_traffic),
        ),
        sizes=ROOT_SIZES,
        inputs=far_guesses,
        reference=roots_reference,
        dtype="float64",
        tolerance=Tolerance(scale=roots_reference, threads=1),
        cache="cold",
        input_note="random numbers from 1 to 2**40, each its own first guess; squares for the exact check",
        baseline="sqrt",
    )


def _maximum(cache: str) -> Study:
    return Study(
        name=cache,
        title=f"Maximum of two vectors from a {cache} cache",
        variants=(_items("one", 1), _items("four", 4)),
        sizes=SIZES,
        inputs=maximum_inputs,
        check=EqualCheck(maximum_reference),
        dtype="float32",
        cache=cache,
        input_note=INPUT_NOTE,
        baseline="one",
    )


def _items(name: str, items_per_thread: int) -> Variant:
    call: Callable[..., None] = functools.partial(maximum, items_per_thread=items_per_thread)
    return Variant(
        name,
        call,
        label=f"{name} a thread",
        arrays="numba",
        traffic=maximum_traffic,
        note=f"One launch over the vectors, {name} {'element' if name == 'one' else 'elements'} a thread.",
    )


def _in_place(name: str, call: Callable[..., None], label: str, traffic: Any) -> Variant:
    return Variant(name, call, label=label, arrays="numba", mutates=True, traffic=traffic)
