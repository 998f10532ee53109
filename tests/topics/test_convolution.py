"""Convolution: the reference, what the check rejects, strips and SIMD, and the kernel at any shape."""

from pathlib import Path

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.topics.convolution import check, cpu
from gpuguide.topics.convolution import study as convolution
from gpuguide.topics.convolution.kernels import ROWS, THREADS_PER_BLOCK, separable_simd
from kernel_emulator import as_ctypes, build, needs_host_compiler


def inputs(edge: int = 40, k: int = 5, *, exact: bool = False) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    if exact:
        return whole((edge, edge), k)
    image, column, row = (rng.random(shape, np.float32) for shape in ((edge, edge), k, k))
    return image, np.outer(column, row), column, row


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (300, 513)])
@pytest.mark.parametrize(("k", "m"), [(1, 1), (15, 5), (4, 9)])
def test_the_reference_is_the_convolution_of_scipy(shape: tuple[int, int], k: int, m: int) -> None:
    rng = np.random.default_rng(1)
    image, column, row = rng.random(shape), rng.random(k), rng.random(m)
    full = check.convolved(image, column, row)
    np.testing.assert_allclose(full, scipy.signal.convolve2d(image, np.outer(column, row)), rtol=1e-12)
    if k <= shape[0] and m <= shape[1]:
        middle = scipy.signal.convolve2d(image, np.outer(column, row), mode="same")
        np.testing.assert_allclose(check.same(full, shape), middle, rtol=1e-12)


@pytest.mark.parametrize("exact", [True, False])
def test_results_that_are_a_little_wrong_are_rejected(exact: bool) -> None:
    given = inputs(exact=exact)
    image, weights = given[:2]
    judge = check.ConvolutionCheck()
    prepared = judge.prepare(given)
    right = scipy.signal.convolve2d(image, weights, mode="same")
    lost = weights.copy()
    lost[0, -1] = 0
    wrongs = {
        "correlated": scipy.signal.correlate2d(image, weights, mode="same"),
        "swapped": scipy.signal.convolve2d(image, weights.T, mode="same"),
        "shifted": np.roll(right, 1, axis=1),
        "reflected": scipy.ndimage.convolve(image, weights),
        "a product lost": scipy.signal.convolve2d(image, lost, mode="same"),
        "nothing": np.full_like(right, np.nan),
    }
    for wrong in wrongs.values():
        with pytest.raises(MismatchError, match="may be off by"):
            judge.compare(wrong, prepared)
    with pytest.raises(MismatchError, match=r"should have shape \(44, 44\) or \(40, 40\)"):
        judge.compare(right[1:], prepared)


@pytest.mark.parametrize("threads", [2, 7, 64])
@pytest.mark.parametrize("height", [1, 33])
def test_strips_overlap_by_the_reach_of_the_kernel(
    monkeypatch: pytest.MonkeyPatch, threads: int, height: int
) -> None:
    monkeypatch.setattr(cpu, "THREADS", threads)
    monkeypatch.setattr(cpu, "ALONE_BELOW", 0)
    rng = np.random.default_rng(0)
    image, column, row = (rng.random(shape, np.float32) for shape in ((height, 20), 7, 7))
    weights = np.outer(column, row)
    expected = check.same(check.convolved(image, column, row), image.shape)
    for way in (cpu.direct_threads, cpu.separable_threads):
        out = np.full_like(image, np.nan)
        way(image, weights, column, row, out)
        np.testing.assert_allclose(out, expected, rtol=1e-5)


# One pixel, less than a block or the kernel, whole blocks of 114 columns, and one more or less.
SHAPES = [(1, 1), (1, 200), (200, 1), (7, 3), (16, 114), (17, 115), (15, 113), (31, 67), (40, 229)]


def whole(shape: tuple[int, int], k: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(k + 1)
    image, column, row = rng.integers(-1, 2, shape), rng.integers(1, 4, k), rng.integers(1, 4, k)
    return tuple(x.astype(np.float32) for x in (image, np.outer(column, row), column, row))


@needs_host_compiler()
@pytest.mark.parametrize("k", [1, 3, 15, 63])
def test_one_kernel_makes_both_passes_at_any_shape(k: int, tmp_path: Path) -> None:
    """Run by the emulator, whose blocks have one axis."""
    source = convolution.blur_source.replace("blockIdx.y", "(blockIdx.x / ACROSS)")
    source = source.replace("blockIdx.x * COLUMNS", "(blockIdx.x % ACROSS) * COLUMNS")
    parameters = (
        "const float* image, const float* column, const float* row, float* out, int height, int width"
    )
    across = "#define ACROSS ((width + COLUMNS - 1) / COLUMNS)\n"
    library = build(defines(k) + across + source, {"blur": parameters}, tmp_path)
    for height, width in SHAPES:
        image, _, column, row = whole((height, width), k)
        guarded = np.full(height * width + 512, np.nan, np.float32)
        out = guarded[256:-256].reshape(height, width)
        blocks = -(-width // (THREADS_PER_BLOCK - k + 1)) * -(-height // ROWS)
        launched = (blocks, THREADS_PER_BLOCK, image, column, row, out, np.int32(height), np.int32(width))
        assert library.run_blur(*launched[:2], *map(as_ctypes, launched[2:])) == 0
        np.testing.assert_array_equal(out, check.same(check.convolved(image, column, row), image.shape))
        assert np.isnan([guarded[:256], guarded[-256:]]).all()


@needs_compilers()
@pytest.mark.parametrize("k", [3, 15, 63])
def test_all_sums_of_one_kernel_stay_in_registers(k: int) -> None:
    facts = raw_facts(defines(k) + convolution.blur_source, "blur")
    assert (facts.spills, facts.stack_bytes) == (0, 0)
    assert facts.count("fma") == 2 * k * ROWS
    assert facts.registers <= 64


def defines(k: int) -> str:
    options = convolution.blur_kernel(k).options
    return "".join(f"#define {option[2:].replace('=', ' ')}\n" for option in options)


@pytest.mark.parametrize("k", [1, 3, 15])
def test_the_loop_with_simd_is_right_at_any_shape(k: int) -> None:
    for shape in SHAPES:
        given = whole(shape, k)
        out = np.full(shape, np.nan, np.float32)
        separable_simd(*given, out)
        np.testing.assert_array_equal(out, check.same(check.convolved(given[0], *given[2:]), shape))
