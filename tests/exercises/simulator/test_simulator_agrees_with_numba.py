"""Right kernels give the same in Numba's own simulator, and the functions on offer compile for a GPU."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from launching import prepare, run
from right_kernels import IMPORTS, Right, all_kernels

from gpuguide.exercises.simulator.names import modules
from gpuguide.exercises.simulator.number_rules import NumberType

HERE = Path(__file__).parent
IN_NUMBA = """
import json, sys
sys.path.insert(0, {here!r})
import numpy as np
from numba import cuda
from launching import prepare, run
from right_kernels import IMPORTS, all_kernels

results = {{}}
for right in all_kernels():
    names = {{}}
    exec(compile(IMPORTS + right.source, right.name, "exec"), names)
    kernel = cuda.jit(names["kernel"])
    # The simulator takes no strided arrays of the host.
    arguments = [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in right.arguments.values()]
    kernel[right.grid, right.block, 0, right.shared_bytes](*arguments)
    arrays = [a.ravel() for a in arguments if isinstance(a, np.ndarray)]
    results[right.name] = [[str(a.dtype), a.view("u1").tolist()] for a in arrays]
print(json.dumps(results))
"""
numba_cuda = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not to be had on this system"
)


@numba_cuda
def test_right_kernels_give_what_numba_s_simulator_gives(simulator_python: Callable[..., str]) -> None:
    """All of them in one fresh process, in which Numba simulates."""
    expected = json.loads(simulator_python(IN_NUMBA.format(here=str(HERE)), quick=False))
    for order in ("forward", "reverse"):
        for right in all_kernels():
            check(right, order, expected[right.name])


def check(right: Right, order: str, expected: list) -> None:
    trace = run(
        prepare(IMPORTS + right.source), right.grid, right.block, right.arguments, order=order,
        shared_bytes=right.shared_bytes, outputs=[],
    )  # fmt: skip
    assert trace.findings == (), (right.name, [str(finding) for finding in trace.findings])
    arrays = [array for array in right.arguments.values() if isinstance(array, np.ndarray)]
    for array, (dtype, raw) in zip(arrays, expected, strict=True):
        wanted = np.array(raw, np.uint8).view(dtype).reshape(array.shape)
        # Numba's simulator computes with Python's floats, Numba and we with float32 and float64.
        np.testing.assert_allclose(array, wanted, rtol=2e-6, atol=1e-6, err_msg=f"{right.name}, {order}")


COMPILED = """
import math, warnings
import numpy as np
from numba import cuda, types
warnings.simplefilter("ignore")
reals, whole = types.float64[::1], types.int64[::1]
for source, kind in {sources!r}:
    names = {{"math": math, "np": np, "cuda": cuda}}
    exec(source, names)
    argument = {{"f": reals, "i": whole}}[kind]
    cuda.compile_ptx(names["kernel"], (argument,), cc=(9, 0))
print("compiled")
"""
TWO_ARGUMENTS = set(
    """pow hypot atan2 arctan2 fmod copysign nextafter divide true_divide maximum minimum fmax fmin
    logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal bitwise_and
    bitwise_or bitwise_xor left_shift right_shift""".split()  # noqa: SIM905  (thirty words in quotes)
)
OF_INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "invert")


def functions_of(module: str, name: str) -> list[str]:
    """The functions that the stand-in of a module offers, as calls."""
    calls = []
    for function, value in vars(modules(None)[module]).items():
        if callable(value) and not isinstance(value, NumberType):
            second = ", 2" if function == "ldexp" else ", x[1]" if function in TWO_ARGUMENTS else ""
            calls.append(f"{name}.{function}(x[0]{second})")
    return calls


@numba_cuda
@pytest.mark.skipif(importlib.util.find_spec("nvidia") is None, reason="NVVM is not installed")
def test_every_function_on_offer_compiles_for_a_gpu(fresh_python: Callable[..., str]) -> None:
    """The stand-ins of math and numpy have nothing that Numba lacks."""
    calls = functions_of("math", "math") + functions_of("numpy", "np")
    whole = [call for call in calls if any(f".{name}(" in call for name in OF_INTEGERS)]
    groups = [
        ("f", [call for call in calls if call not in whole]),
        ("i", whole),
    ]
    assert all(len(group) > 2 for _, group in groups)
    sources = [
        ("def kernel(x):\n" + "".join(f"    x[0] = {call}\n" for call in group), kind)
        for kind, group in groups
    ]
    assert fresh_python(COMPILED.format(sources=sources)) == "compiled\n"
