"""Heat on a plate: kernels in CUDA C++ at any shape, waiting for all blocks, and the race without it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import gpuguide as gg
from compile_lane import needs_compilers, numba_facts, numba_ptx, raw_facts
from gpuguide.topics.stencil import kernels
from gpuguide.topics.stencil.study import INSIDE, heat_reference
from kernel_emulator import as_ctypes, build, needs_host_compiler

# No cell inside, less than a block, whole blocks of 56 by 56, one more or less, two.
SHAPES = [(1, 1), (2, 70), (1, 200), (3, 3), (55, 57), (56, 112), (113, 60)]


def plate(rows: int, cols: int) -> np.ndarray:
    return np.random.default_rng(rows).random((rows, cols), np.float32)


def one_axis(source: str) -> str:
    """The emulator's blocks and grids have one axis."""
    for name, axis in (("threadIdx", "64"), ("blockIdx", f"((cols + {INSIDE - 1}) / {INSIDE})")):
        source = source.replace(f"{name}.y", f"({name}_x / {axis})").replace(
            f"{name}.x", f"({name}_x % {axis})"
        )
        source = source.replace(f"{name}_x", f"{name}.x")
    return source


@needs_host_compiler()
def test_four_steps_in_one_launch_are_four_steps_at_any_shape(tmp_path: Path) -> None:
    source = one_axis(kernels.heat_source).replace("__launch_bounds__(SIDE * THREADS)", "")
    parameters = "const float* now, float* then, int rows, int cols"
    library = build(source, {"heat": parameters}, tmp_path)
    for shape in SHAPES:
        now, out = plate(*shape), np.full((shape[0] + 2, shape[1]), np.nan, np.float32)
        blocks = -(-shape[0] // INSIDE) * -(-shape[1] // INSIDE)
        given = map(as_ctypes, (now, out[1:-1], *map(np.int32, shape)))
        assert library.run_heat(blocks, 512, *given) == 0
        np.testing.assert_array_equal(out[1:-1], heat_reference(now, 4))
        assert np.isnan(out[[0, -1]]).all()


@needs_host_compiler()
def test_the_cooperative_kernel_is_right_with_one_block(tmp_path: Path) -> None:
    """Where all threads are those of a block, its barrier is that of the grid."""
    grid = "namespace cooperative_groups { struct grid_group { void sync() { __syncthreads(); } };\n"
    source = kernels.cooperative_source.replace(
        "#include <cooperative_groups.h>", f"{grid} grid_group this_grid() {{ return {{}}; }} }}"
    )
    source = source.replace("gridDim.x", "1")
    parameters = "const float* now, float* a, float* b, int steps, int rows, int cols"
    library = build(source, {"heat": parameters}, tmp_path)
    for shape in SHAPES:
        now, spare, out = plate(*shape), *(np.full(shape, np.nan, np.float32) for _ in "ab")
        given = map(as_ctypes, (now, spare, out, *map(np.int32, (6, *shape))))
        assert library.run_heat(1, 96, *given) == 0
        np.testing.assert_array_equal(out, heat_reference(now, 6))


def test_waiting_for_all_blocks_is_right_with_one_block(fresh_python: Callable[..., str]) -> None:
    """The simulator's grid.sync() knows one block."""
    printed = fresh_python(
        "import numpy as np\n"
        "from gpuguide.topics.stencil import kernels, study\n"
        "now = np.random.default_rng(0).random((9, 40), np.float32)\n"
        "a, b = np.zeros_like(now), np.zeros_like(now)\n"
        "kernels.wait_for_all[1, 32](now, a, b, 4)\n"
        "print((b == study.heat_reference(now, 4)).all())",
        NUMBA_ENABLE_CUDASIM="1",
    )
    assert printed.strip() == "True"


def test_the_barrier_of_a_block_leaves_a_race() -> None:
    now = plate(10, 12)
    traced = gg.trace(kernels.wait_for_block[4, 32], now, *(np.zeros_like(now) for _ in "ab"), 2)
    assert traced.findings[0].kind == "race"


@needs_compilers()
def test_what_a_thread_needs_stays_in_registers() -> None:
    from numba import float32, int64

    plates = (float32[:, ::1], float32[:, ::1])
    rows = numba_facts(kernels.eight_rows, plates)
    assert (rows.spills, rows.stack_bytes) == (0, 0)
    # Three blocks of 512 threads, or more, and then four.
    assert rows.registers <= 42
    assert raw_facts(kernels.heat_source, "heat").registers <= 64
    assert "cudaCGSynchronize" in numba_ptx(kernels.wait_for_all, (*plates, plates[0], int64))
