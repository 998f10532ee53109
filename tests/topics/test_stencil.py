"""Heat on a plate: kernels in CUDA C++ at any shape, waiting for all blocks, and the race without it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import gpuguide as gg
from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.stencil import kernels
from gpuguide.topics.stencil.study import INSIDE, STEPS_PER_LAUNCH, heat_reference
from kernel_emulator import as_ctypes, build, needs_host_compiler

# No cell inside, less than a block, whole blocks of 52 by 52, one more or less, two.
SHAPES = [(1, 1), (2, 70), (1, 200), (3, 3), (51, 53), (52, 104), (105, 60)]


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
def test_six_steps_in_one_launch_are_six_steps_at_any_shape(tmp_path: Path) -> None:
    source = one_axis(kernels.heat_source).replace("__launch_bounds__(SIDE * THREADS)", "")
    parameters = "const float* now, float* then, int rows, int cols"
    library = build(source, {"heat": parameters}, tmp_path)
    for shape in SHAPES:
        now, out = plate(*shape), np.full((shape[0] + 2, shape[1]), np.nan, np.float32)
        blocks = -(-shape[0] // INSIDE) * -(-shape[1] // INSIDE)
        given = map(as_ctypes, (now, out[1:-1], *map(np.int32, shape)))
        assert library.run_heat(blocks, 512, *given) == 0
        np.testing.assert_array_equal(out[1:-1], heat_reference(now, STEPS_PER_LAUNCH))
        assert np.isnan(out[[0, -1]]).all()


ELEMENTWISE = """
struct Plate {
    const float* cells;
    long sides[2];
    const long* shape() const { return sides; }
    float operator[](long i) const { return cells[i]; }
};
extern "C" __global__ void heat_step(const float* cells, float* out, int rows, int cols) {
    const Plate now = {cells, {rows, cols}};
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += blockDim.x * gridDim.x) {
        float& then = out[i];
        BODY
    }
}
"""


@needs_host_compiler()
def test_what_cupy_does_for_each_element_is_a_step(tmp_path: Path) -> None:
    """Around it stands what CuPy puts there: the index, the result's element, and an array with a shape."""
    source = ELEMENTWISE.replace("BODY", kernels.elementwise_source)
    parameters = "const float* cells, float* out, int rows, int cols"
    library = build(source, {"heat_step": parameters}, tmp_path)
    for shape in SHAPES:
        now, out = plate(*shape), np.full(shape, np.nan, np.float32)
        assert library.run_heat_step(3, 64, *map(as_ctypes, (now, out, *map(np.int32, shape)))) == 0
        np.testing.assert_array_equal(out, heat_reference(now))


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
    from numba import float32

    plate = float32[:, ::1]
    rows = numba_facts(kernels.eight_rows, (plate, plate))
    steps = raw_facts(kernels.heat_source, "heat")
    assert (rows.spills, rows.stack_bytes, steps.spills) == (0, 0, 0)
    # Three blocks of 512 threads, or more, and then at least two.
    assert rows.registers <= 42
    assert steps.registers <= 64


@needs_compilers()
def test_six_blocks_that_wait_for_all_fit_on_a_multiprocessor() -> None:
    """Its 65,536 registers are enough for six blocks of 256 threads; with 88 each they were for two."""
    from numba import float32, int64

    plate = float32[:, ::1]
    facts = numba_facts(kernels.wait_for_all, (plate, plate, plate, int64))
    assert "cudaCGSynchronize" in facts.ptx
    assert (facts.registers <= 40, facts.spills) == (True, 0)
