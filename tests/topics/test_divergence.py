"""Divergence: references and steps of warps by hand, and branches in compiled code."""

from collections.abc import Callable

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.divergence import kernels, mandelbrot, two_recipes
from gpuguide.topics.divergence import study as smallest_divisor
from gpuguide.topics.divergence.warp_steps import active_share, warp_steps

# Results ----------------------------------------------------------------------------------------------------


def test_the_kernel_that_groups_finds_the_grouped_order_in_the_simulator(
    fresh_python: Callable[..., str],
) -> None:
    """What CuPy's running sum gives it on a GPU, NumPy's gives it here."""
    snippet = """
import numpy as np
from gpuguide.topics.divergence.two_recipes import find_orders
from gpuguide.topics.divergence.kernels import group
for n in (1, 31, 33, 257):
    kind = np.random.default_rng(n).integers(0, 2, n, dtype=np.int32)
    order = np.full(n, -1, np.int32)
    group[3, 96](kind, np.cumsum(kind, dtype=np.int32), order)
    assert (order == find_orders(kind)[2]).all(), n
print("grouped")
"""
    assert fresh_python(snippet, NUMBA_ENABLE_CUDASIM="1").strip() == "grouped"


# References -------------------------------------------------------------------------------------------------


def test_the_recipes_reference_agrees_with_the_recipes_run_in_python() -> None:
    """They share no code: one puts bits together, the other is the device functions' text."""
    x = np.random.default_rng(3).integers(0, 2**32, 20, dtype=np.uint32)
    kind = np.arange(20, dtype=np.int32) % 2
    bodies = [getattr(each, "py_func", each) for each in (kernels.shift_recipe, kernels.turn_recipe)]
    expected = [int(bodies[k](v)) for v, k in zip(x, kind, strict=True)]
    assert two_recipes.recipes_reference(x, kind).tolist() == expected


def test_the_smallest_divisors_and_their_divisions_by_hand() -> None:
    numbers = range(2, 2002)
    smallest = [next(d for d in range(2, n + 1) if n % d == 0) for n in numbers]
    assert smallest_divisor.divisors_reference(np.arange(2000)).tolist() == smallest
    tried = []
    for number in numbers:
        d, count = 3, 0
        while number % 2 and d * d <= number:
            count += 1
            if number % d == 0:
                break
            d += 2
        tried.append(count)
    assert smallest_divisor.divisions(2000).tolist() == tried


def test_the_steps_of_pixels_by_hand() -> None:
    """In Python's integers, which never overflow."""
    n = 900
    counted = []
    for pixel in range(n):
        row, col = divmod(pixel, 30)
        re = kernels.LEFT + col * (kernels.SPAN // 30)
        im = kernels.TOP + row * (kernels.SPAN // 30)
        x = y = steps = 0
        while steps < mandelbrot.MOST_STEPS and (x * x >> 20) + (y * y >> 20) <= 4 << 20:
            x, y = (x * x >> 20) - (y * y >> 20) + re, (2 * x * y >> 20) + im
            steps += 1
        counted.append(steps)
    steps = mandelbrot.escape_reference(n)
    assert steps.tolist() == counted
    assert len(set(counted)) > 20, "the work varies"
    assert not steps.flags.writeable


# Orders and steps -------------------------------------------------------------------------------------------


def test_steps_of_warps_equal_those_of_a_warp_walked_through() -> None:
    rng = np.random.default_rng(5)
    for n in (1, 31, 32, 33, 100, 257):
        paths = [rng.integers(0, 50, n) for _ in range(3)]
        walked = 0
        for warp in range(0, n, 32):
            for path in paths:
                waiting = list(path[warp : warp + 32])
                while any(waiting):
                    walked += 1
                    waiting = [max(0, turns - 1) for turns in waiting]
        assert warp_steps(*paths) == walked
        useful = sum(int(path.sum()) for path in paths)
        assert active_share(*paths) == pytest.approx(useful / (32 * walked))


# Compiled code ----------------------------------------------------------------------------------------------


@needs_compilers()
def test_the_branch_stays_a_branch_and_both_sides_have_none() -> None:
    """One branch more than without sides, and no recipe's work is merged into the other's."""
    from numba import int32, uint32

    signature = (uint32[::1], int32[::1], int32[::1], uint32[::1])
    branch, both = (numba_facts(kernel, signature) for kernel in (kernels.branch, kernels.both_sides))
    assert branch.count("bra") > both.count("bra")
    assert both.count("selp.b32") == 1
    for opcode in ("xor.b32", "shl.b32", "shr.u32"):
        assert branch.count(opcode) == both.count(opcode) > 10


@needs_compilers()
def test_divisions_have_32_bits() -> None:
    from numba import int32, uint32

    listed = numba_facts(kernels.by_cost, (int32[::1], uint32[::1]))
    one = numba_facts(kernels.in_order, (uint32[::1],))
    regrouped = numba_facts(kernels.regrouped, (uint32[::1],))
    often = numba_facts(kernels.regrouped_often, (uint32[::1],))
    assert one.count("rem.u32") == listed.count("rem.u32") == 1
    assert regrouped.count("rem.u32") == 2
    assert one.count("rem.s64") == regrouped.count("rem.s64") == one.count("rem.u64") == 0
    assert regrouped.shared_bytes == 4 * (kernels.NUMBERS_PER_BLOCK + 1)
    assert often.count("rem.u32") >= 2
    assert often.count("rem.s64") == often.count("rem.u64") == 0
