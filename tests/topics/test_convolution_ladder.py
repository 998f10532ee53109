"""The ladder of a convolution: kernels in CUDA C++ at any shape, and what the compiler makes of each step."""

from pathlib import Path

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.convolution.check import convolved, same
from gpuguide.topics.convolution_ladder import kernels
from gpuguide.topics.convolution_ladder import study as ladder
from kernel_emulator import as_ctypes, build, needs_host_compiler

# One pixel, less than the reach of the kernel, whole blocks, one more or less, quads that are cut off.
SHAPES = [(1, 1), (1, 200), (70, 1), (7, 3), (32, 128), (33, 129), (31, 241), (40, 244), (65, 127)]

HEAD = """
#define __constant__ static
#define __align__(n) __attribute__((aligned(n)))
struct float4 { float x, y, z, w; };
"""


def whole(shape: tuple[int, int], k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    column, row = ladder.vectors(k)
    return np.random.default_rng(k).integers(-1, 2, shape).astype(np.float32), column, row


def guarded(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A result with 64 numbers on either side, which are to stay, as they lie on a GPU: at 16 bytes."""
    memory = np.full(shape[0] * shape[1] + 132, np.nan, np.float32)
    begin = 64 + (-memory.ctypes.data // 4) % 4
    return memory, memory[begin : begin + shape[0] * shape[1]].reshape(shape)


@needs_host_compiler()
@pytest.mark.parametrize("k", [1, 3, 15, 31])
def test_columns_are_right_at_any_shape(k: int, tmp_path: Path) -> None:
    turned = np.outer(*ladder.vectors(k))[::-1, ::-1].T.reshape(-1)
    weights = ", ".join(map(str, turned))
    source = kernels.columns_source.replace("weights[K * K];", f"weights[K * K] = {{{weights}}};")
    source = source.replace("__launch_bounds__(32 * WARPS)", "")
    across = "((width + 127) / 128)"
    for name, wide in (("threadIdx", "32"), ("blockIdx", across)):
        source = source.replace(f"{name}.y", f"({name}_ / {wide})").replace(
            f"{name}.x", f"({name}_ % {wide})"
        )
        source = source.replace(f"{name}_", f"{name}.x")
    parameters = "const float* image, float* out, int height, int width"
    library = build(f"#define K {k}\n{HEAD}{source}", {"convolve": parameters}, tmp_path)
    for height, width in SHAPES:
        image, column, row = whole((height, width), k)
        memory, out = guarded(image.shape)
        blocks = -(-width // 128) * -(-height // 32)
        given = map(as_ctypes, (image, out, np.int32(height), np.int32(width)))
        assert library.run_convolve(blocks, 128, *given) == 0
        np.testing.assert_array_equal(out, same(convolved(image, column, row), image.shape))
        assert np.isnan(memory).sum() == memory.size - out.size


@needs_host_compiler()
@pytest.mark.parametrize("k", [1, 3, 15, 31])
def test_both_passes_are_right_at_any_shape(k: int, tmp_path: Path) -> None:
    source = kernels.passes_source.replace("__launch_bounds__(THREADS)", "")
    source = source.replace("blockIdx.y", "(blockIdx_ / ACROSS)").replace(
        "blockIdx.x", "(blockIdx_ % ACROSS)"
    )
    source = source.replace("blockIdx_", "blockIdx.x")
    across = "#define ACROSS ((width + COLUMNS - 1) / COLUMNS)\n"
    parameters = (
        "const float* image, const float* column, const float* row, float* out, int height, int width"
    )
    defines = f"#define K {k}\n#define ROWS {ladder.ROWS}\n"
    library = build(defines + HEAD + across + source, {"blur": parameters}, tmp_path)
    for height, width in SHAPES:
        image, column, row = whole((height, width), k)
        memory, out = guarded(image.shape)
        columns = (ladder.PASS_THREADS - k + 1) // 4 * 4
        blocks = -(-width // columns) * -(-height // ladder.ROWS)
        given = map(as_ctypes, (image, column, row, out, np.int32(height), np.int32(width)))
        assert library.run_blur(blocks, ladder.PASS_THREADS, *given) == 0
        np.testing.assert_array_equal(out, same(convolved(image, column, row), image.shape))
        assert np.isnan(memory).sum() == memory.size - out.size


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (40, 9), (16, 33)])
def test_the_direct_loop_with_simd_is_right_at_any_shape(shape: tuple[int, int]) -> None:
    image, column, row = whole(shape, kernels.K)
    out = np.full(shape, np.nan, np.float32)
    kernels.direct_simd(image, kernels.WEIGHTS, column, row, out)
    np.testing.assert_array_equal(out, same(convolved(image, column, row), shape))


@needs_compilers()
def test_each_step_reads_less_for_a_product() -> None:
    """Shared memory, per product: two reads, then one for eight products; all sums stay in registers."""
    from numba import float32

    image = float32[:, ::1]
    tile = numba_facts(kernels.from_tile, (image, image, image))
    window = numba_facts(kernels.from_window, (image, image))
    assert (tile.count("ld.shared"), tile.count("fma")) == (30, 15)
    assert (window.count("ld.shared"), window.count("fma")) == (30, 240)
    assert (window.spills, window.stack_bytes) == (0, 0)
    for k in ladder.SIZES:
        defines = f"#define K {k}\n#define ROWS {ladder.ROWS}\n"
        columns = raw_facts(defines.splitlines()[0] + kernels.columns_source, "convolve")
        passes = raw_facts(defines + kernels.passes_source, "blur")
        assert columns.spills == columns.stack_bytes == passes.spills == passes.stack_bytes == 0
        assert columns.count("fma") == 32 * k
