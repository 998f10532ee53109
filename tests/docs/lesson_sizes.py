"""How the open blocks of each lesson are run at two other sizes, and when the answer of a rung is right."""

from __future__ import annotations

from open_blocks import OtherSizes


def _each(check: str, *rungs: str) -> dict[str, str]:
    return dict.fromkeys(rungs, check)


_MAXIMUM = """
assert (out == cp.maximum(a, b)).all()
out[:] = -1
"""
_MAXIMUM_RUNGS = ("one_element", "larger_blocks", "grid_stride", "four_elements")
# The simulator compiles nothing, so there are no registers and no PTX.
_NO_REGISTERS = {"max(kernel.get_regs_per_thread().values())": "16"}
_NO_PTX = {"(ptx,) = kernel.inspect_asm().values()": "ptx = ''"}

# What the doses come to by their formula, in float64.
_DOSES = """
x = 0.0
for _ in range(128):
    x = (x + 2.5) * kept.get().astype(float)
assert np.allclose(level.get(), x, rtol=1e-4)
level[:] = -1
"""
_DOSES_RUNGS = (
    *("python_floats", "rounded_steps", "one_left", "float32_only"),
    *("range_int64", "range_int32", "own_counter"),
)

#: Lesson -> two other sizes. Add a lesson here when it is written.
OTHER_SIZES: dict[str, tuple[OtherSizes, OtherSizes]] = {
    "launch_sizes": (
        OtherSizes({**_NO_REGISTERS, "2**26": "3_001"}, _each(_MAXIMUM, *_MAXIMUM_RUNGS)),
        OtherSizes({**_NO_REGISTERS, "2**26": "1"}, _each(_MAXIMUM, *_MAXIMUM_RUNGS)),
    ),
    "numba_types": (
        OtherSizes(
            {**_NO_PTX, "65_536": "1_000", "[256, 256]": "[4, 256]", "16_384": "250"},
            _each(_DOSES, *_DOSES_RUNGS),
        ),
        OtherSizes(
            {**_NO_PTX, "65_536": "31", "[256, 256]": "[1, 32]", "16_384": "8"}, _each(_DOSES, *_DOSES_RUNGS)
        ),
    ),
}

#: Lesson -> why its open blocks do not run in the simulator.
NOT_SIMULATED: dict[str, str] = {}
