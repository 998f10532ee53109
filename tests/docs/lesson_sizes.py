"""How the open blocks of each lesson are run at two other sizes, and when their answer is right."""

from __future__ import annotations

from open_blocks import OtherSizes

# What the doses come to by their formula, in float64; and a kernel without PTX, as in the simulator.
_DOSES = """
expected = 0.0
for _ in range(128):
    expected = (expected + 2.5) * kept.get().astype(float)
assert level.size == {n}
assert np.allclose(level.get(), expected, rtol=1e-4)
"""
_NO_PTX = {"(ptx,) = kernel.inspect_asm().values()": "ptx = ''"}

#: Lesson -> two other sizes. Add a lesson here when it is written.
OTHER_SIZES: dict[str, tuple[OtherSizes, OtherSizes]] = {
    "numba_types": (
        OtherSizes(
            {**_NO_PTX, "65_536": "1_000", "[256, 256]": "[4, 256]", "16_384": "250"}, _DOSES.format(n=1000)
        ),
        OtherSizes({**_NO_PTX, "65_536": "31", "[256, 256]": "[1, 32]", "16_384": "8"}, _DOSES.format(n=31)),
    ),
}

#: Lesson -> why its open blocks do not run in the simulator.
NOT_SIMULATED: dict[str, str] = {}
