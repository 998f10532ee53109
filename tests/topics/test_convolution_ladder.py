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
using std::min;
"""


def whole(shape: tuple[int, int], k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    column, row = ladder.vectors(k)
    return np.random.default_rng(k).integers(-1, 2, shape).astype(np.float32), column, row


def guarded(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A result with 64 numbers on either side, which are to stay, as they lie on a GPU: at 16 bytes."""
    memory = np.full(shape[0] * shape[1] + 132, np.nan, np.float32)
    begin = 64 + (-memory.ctypes.data // 4) % 4
    return memory, memory[begin : begin + shape[0] * shape[1]].reshape(shape)


def constant(source: str, name: str, values: np.ndarray) -> str:
    """Give a constant of a source its numbers."""
    start = source.index(f" {name}[") + 1
    end = min(source.index(sign, start) for sign in ",;" if sign in source[start:])
    numbers = ", ".join(map(str, values.reshape(-1)))
    return source[:end] + f" = {{{numbers}}}" + source[end:]


def in_line(source: str, across: str) -> str:
    """Number blocks in a line, as the emulator launches them."""
    source = source.replace("blockIdx.y", f"(blockIdx_ / {across})")
    source = source.replace("blockIdx.x", f"(blockIdx_ % {across})")
    return source.replace("blockIdx_", "(int)blockIdx.x")


@needs_host_compiler()
@pytest.mark.parametrize("k", [1, 3, 15, 31])
def test_quads_are_right_at_any_shape(k: int, tmp_path: Path) -> None:
    turned = np.outer(*ladder.vectors(k))[::-1, ::-1]
    source = constant(kernels.quads_source, "weights", turned)
    source = in_line(source.replace("__launch_bounds__(32 * WARPS)", ""), "((width + 127) / 128)")
    source = source.replace("threadIdx.y", "(threadIdx_ / 32)").replace("threadIdx.x", "(threadIdx_ % 32)")
    source = source.replace("threadIdx_", "(int)threadIdx.x")
    parameters = "const float* image, float* out, int height, int width"
    library = build(f"#define K {k}\n{HEAD}{source}", {"convolve": parameters}, tmp_path)
    for height, width in SHAPES:
        image, column, row = whole((height, width), k)
        memory, out = guarded(image.shape)
        blocks = -(-width // 128) * -(-height // 16)
        given = map(as_ctypes, (image, out, np.int32(height), np.int32(width)))
        assert library.run_convolve(blocks, 256, *given) == 0
        np.testing.assert_array_equal(out, same(convolved(image, column, row), image.shape))
        assert np.isnan(memory).sum() == memory.size - out.size


@needs_host_compiler()
@pytest.mark.parametrize("k", [1, 3, 15, 31])
def test_both_passes_are_right_at_any_shape(k: int, tmp_path: Path) -> None:
    column, row = ladder.vectors(k)
    source = constant(kernels.passes_source, "column", column[::-1])
    source = constant(source, "row", row[::-1]).replace("__launch_bounds__(THREADS, K > 15 ? 1 : 7)", "")
    source = in_line(source, "((width + COLUMNS - 1) / COLUMNS)")
    parameters = "const float* image, float* out, int height, int width, int rows"
    library = build(f"#define K {k}\n{HEAD}{source}", {"blur": parameters}, tmp_path)
    for height, width in SHAPES:
        image = whole((height, width), k)[0]
        memory, out = guarded(image.shape)
        columns = (ladder.PASS_THREADS - k + 1) // 4 * 4
        for rows in (9, 36):
            out[...] = np.nan
            blocks = -(-width // columns) * -(-height // rows)
            given = map(as_ctypes, (image, out, np.int32(height), np.int32(width), np.int32(rows)))
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
        define = f"#define K {k}\n"
        quads = raw_facts(define + kernels.quads_source, "convolve")
        passes = raw_facts(define + kernels.passes_source, "blur")
        assert quads.spills == quads.stack_bytes == passes.spills == passes.stack_bytes == 0
        assert quads.count("fma") == 8 * k * k
