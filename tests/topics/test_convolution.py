"""Convolution: what the check accepts and rejects, strips on all threads, and the calls of CuPy."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.topics.convolution import check, cpu
from gpuguide.topics.convolution import study as convolution


def inputs(edge: int = 40, k: int = 5, *, exact: bool = False) -> tuple[np.ndarray, ...]:
    return convolution._inputs(edge, k, np.random.default_rng(0), exact)


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (40, 33), (100, 64)])
@pytest.mark.parametrize(("k", "m"), [(1, 1), (3, 3), (15, 5), (4, 9)])
def test_the_reference_is_the_convolution_of_scipy(shape: tuple[int, int], k: int, m: int) -> None:
    rng = np.random.default_rng(1)
    image, column, row = rng.random(shape), rng.random(k), rng.random(m)
    expected = scipy.signal.convolve2d(image, np.outer(column, row))
    full = check.convolved(image, column, row)
    np.testing.assert_allclose(full, expected, rtol=1e-12)
    if k <= shape[0] and m <= shape[1]:
        middle = scipy.signal.convolve2d(image, np.outer(column, row), mode="same")
        np.testing.assert_allclose(check.same(full, shape), middle, rtol=1e-12)


@pytest.mark.parametrize("exact", [True, False])
def test_a_right_result_passes_full_and_same(exact: bool) -> None:
    given = inputs(exact=exact)
    judge = check.ConvolutionCheck()
    prepared = judge.prepare(given)
    for mode in ("full", "same"):
        result = scipy.signal.convolve2d(given[0], given[1], mode=mode)
        largest, tolerance = judge.compare(result, prepared)
        assert largest <= tolerance


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


def test_random_results_may_be_off_by_rounding_alone() -> None:
    judge = check.ConvolutionCheck()
    given = inputs(64, 15)
    tolerance = judge.prepare(given)[2]
    full = judge.prepare(given)[0]
    assert tolerance < 1e-4 * full.max()


@pytest.mark.parametrize("threads", [1, 2, 7, 64])
@pytest.mark.parametrize("height", [1, 6, 33, 50])
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


class OnDevice(np.ndarray):
    """As much of a CuPy array as the copies need."""

    def set(self, arr: Any, stream: Any = None) -> None:
        assert stream == "the current stream"
        self[...] = arr

    def get(self, out: Any = None) -> Any:
        if out is None:
            return np.array(self)
        out[...] = self
        return None


@pytest.fixture
def scipy_for_cupyx(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy's functions under CuPy's names; those of ndimage return what `get` can be asked of."""

    def on_device(function: Any) -> Any:
        return lambda *args, **options: function(*args, **options).view(OnDevice)

    modules = {
        "signal": SimpleNamespace(
            **{
                name: on_device(getattr(scipy.signal, name))
                for name in ("convolve2d", "correlate2d", "fftconvolve")
            }
        ),
        "ndimage": SimpleNamespace(
            **{name: on_device(getattr(scipy.ndimage, name)) for name in ("convolve", "convolve1d")}
        ),
    }
    fake = SimpleNamespace(
        asarray=lambda x: np.array(x).view(OnDevice),
        empty=lambda shape, dtype: np.empty(shape, dtype).view(OnDevice),
        ascontiguousarray=lambda x: np.ascontiguousarray(x).view(OnDevice),
        cuda=SimpleNamespace(get_current_stream=lambda: "the current stream"),
    )
    monkeypatch.setattr(convolution, "cupyx_scipy", modules.__getitem__)
    monkeypatch.setattr(convolution, "cupy", lambda: fake)


SAME = ("convolve2d_same", "correlate2d_turned", "ndimage_convolve", "fftconvolve_same", "two_passes")
WAYS = (*SAME, "convolve2d_full")


@pytest.mark.usefixtures("scipy_for_cupyx")
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("k", [1, 3, 15])
def test_every_way_on_the_gpu_makes_the_same_calls_as_scipy_would(k: int, exact: bool) -> None:
    given = inputs(33, k, exact=exact)
    judge = check.ConvolutionCheck()
    prepared = judge.prepare(given)
    for name in WAYS:
        judge.compare(np.array(getattr(convolution, name)(*given)), prepared)
    for copying in (convolution.with_copies, convolution.with_copies_pinned):
        out = np.full_like(given[0], np.nan)
        copying(*given, out)
        judge.compare(out, prepared)


@pytest.mark.parametrize("name", WAYS)
def test_the_calls_say_what_they_take(name: str) -> None:
    image, weights, column, row = inputs()
    call = getattr(convolution, name)
    for wrong in (image.astype("float64"), image[0], None):
        with pytest.raises(ArgumentError, match=r"image must be an? .*array.*; got"):
            call(wrong, weights, column, row)
    with pytest.raises(ArgumentError, match=r"weights must be a .*array; got shape \(5, 5\), float64"):
        call(image, weights.astype("float64"), column, row)
    with pytest.raises(ArgumentError, match=r"row must be a float32 array of shape \(5,\); got shape \(4,\)"):
        call(image, weights, column, row[1:])


@pytest.mark.usefixtures("scipy_for_cupyx")
def test_what_is_compiled_beforehand_are_the_kernels_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for name in ("ndimage_convolve", "two_passes"):
        way = getattr(convolution, name)
        monkeypatch.setattr(convolution, name, lambda *given, way=way: seen.append(way(*given).size))
    monkeypatch.setattr(convolution, "cupy", lambda: SimpleNamespace(zeros=np.zeros, ones=np.ones))
    convolution.compile_kernels()
    assert seen == [64 * 64] * 2 * len(convolution.KERNEL_SIZES)


def test_the_parts_of_cupyx_are_imported_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "import_module", lambda name: name)
    assert convolution.cupyx_scipy.__wrapped__("signal") == "cupyx.scipy.signal"


def test_an_empty_image_stays_empty() -> None:
    given = inputs(0)
    for name in SAME:
        assert getattr(convolution, name)(*given).shape == (0, 0)


def test_the_reference_of_other_inputs_is_made_anew() -> None:
    judge = check.ConvolutionCheck()
    first, second = inputs(), inputs(exact=True)
    for given in (first, second, first):
        full = judge.prepare(given)[0]
        np.testing.assert_allclose(full, scipy.signal.convolve2d(given[0], given[1]), rtol=1e-4)
        assert judge.prepare(tuple(x.copy() for x in given))[0] is full


def test_signs_do_not_narrow_what_rounding_may_do() -> None:
    image, weights, column, row = inputs()
    judge = check.ConvolutionCheck()
    plain = judge.prepare((image, weights, column, row))[2]
    assert judge.prepare((-image, weights, column, row))[2] == pytest.approx(plain)


def test_sizes_are_squares_and_kernels_have_a_middle() -> None:
    with pytest.raises(ArgumentError, match=r"pixels that is the square; got 5"):
        convolution.study().make_inputs(5, exact=True)
    with pytest.raises(ArgumentError, match="weights that is the square of an odd number; got 16"):
        convolution.by_kernel_study().make_inputs(16, exact=True)


def test_the_source_s_size_and_dtype_are_measured() -> None:
    study = convolution.study()
    assert study.dtype == "float32"
    assert (convolution.K, study.sizes) == (15, (2048**2,))
    assert {3**2, 63**2} <= set(convolution.by_kernel_study().sizes)


def test_the_products_are_those_of_all_weights_or_of_two_passes() -> None:
    study = convolution.by_kernel_study()
    for name, per_pixel in (("ndimage", 225), ("separable", 30)):
        (work,) = study.variant(name).counted(15**2, np.dtype("float32"), None)
        assert work.count == per_pixel * convolution.EDGE**2


@pytest.mark.usefixtures("scipy_for_cupyx")
def test_rounding_errors_are_those_of_single_precision() -> None:
    errors = convolution.rounding_errors(64)
    assert {name for name in errors if "dark" not in name} == {"ndimage", "fft", "separable"}
    assert all(error < 1e-5 for error in errors.values())
    assert errors["dark_ndimage"] == errors["dark_separable"] == 0 < errors["dark_fft"]


def test_scipy_is_timed_on_the_image_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "EDGE", 64)
    assert len(convolution.time_scipy(2)) == 2


# Importing cupyx.scipy.signal warns of a part of CuPy that is not used here.
@pytest.mark.filterwarnings("ignore:cupyx.jit.rawkernel is experimental:FutureWarning")
@pytest.mark.gpu
def test_all_ways_agree_on_the_gpu_at_awkward_sizes() -> None:
    assert not convolution.study().check_all((0, 15**2, 33**2, 100**2, 257**2)).skipped
    assert not convolution.by_kernel_study().check_all((1, 9, 17**2)).skipped
