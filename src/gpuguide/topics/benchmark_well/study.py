"""What six wrong clocks are held against: a maximum, warm and cold, and roots that replace their guesses."""

from __future__ import annotations

import functools
from collections.abc import Callable

from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, kernel_variant
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


def study(kernels: Kernels = None) -> Study:
    """Describe the maximum of two vectors, found from a cold cache each time."""
    return _maximum("cold", kernels)


def warm_study(kernels: Kernels = None) -> Study:
    """Describe the same maximum, called again and again on the same arrays."""
    return _maximum("warm", kernels)


def roots_study(kernels: Kernels = None) -> Study:
    """Describe square roots in place, with the first guesses put back before each call, from a cold cache."""
    return Study(
        name="roots",
        title="Square roots in place",
        variants=(
            kernel_variant(
                "newton", improve, "Newton's method", mutates=True, traffic=improve_traffic
            ),
            kernel_variant(
                "sqrt", square_root, "math.sqrt", mutates=True, traffic=square_root_traffic
            ),
        ),
        sizes=ROOT_SIZES,
        inputs=far_guesses,
        reference=roots_reference,
        dtype="float64",
        tolerance=Tolerance(scale=roots_reference, threads=1),
        cache="cold",
        input_note="random numbers from 1 to 2**40, each its own first guess; squares for the exact check",
        baseline="sqrt",
        kernels=kernels,
    )


def _maximum(cache: str, kernels: Kernels) -> Study:
    return Study(
        name=cache,
        title=f"Maximum of two vectors from a {cache} cache",
        variants=(_items("one", 1), _items("four", 4)),
        sizes=SIZES,
        inputs=maximum_inputs,
        reference=maximum_reference,
        equal=True,
        dtype="float32",
        cache=cache,
        input_note=INPUT_NOTE,
        baseline="one",
        kernels=kernels,
    )


def _items(name: str, items_per_thread: int) -> Variant:
    call: Callable[..., None] = functools.partial(maximum, items_per_thread=items_per_thread)
    return kernel_variant(
        name,
        call,
        f"{name} a thread",
        traffic=maximum_traffic,
        note=f"One launch over the vectors, {name} {'element' if name == 'one' else 'elements'} a thread.",
    )
