"""The kernels that compare: they compile, and find what NumPy finds, on the CPU and on a GPU."""

from __future__ import annotations

import re
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.machine.backends import cupy
from gpuguide.machine.memory import Space
from gpuguide.measure import checking_kernels
from gpuguide.measure.buffers import Buffers, GuardedArray, first_difference, pattern
from gpuguide.measure.checking_kernels import CHECKING_SOURCE, KERNELS, MAX_OPERANDS
from gpuguide.measure.reference import Expected
from kernel_emulator import as_ctypes, build, needs_host_compiler

INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ROUNDED = ("float16", "float32", "float64", "complex64", "complex128")
THREADS = 8


class EmulatedArray(np.ndarray):
    """A NumPy array that says it is CuPy's."""

    __module__ = "cupy"
    __cuda_array_interface__ = "emulated"

    @property
    def data(self):
        return SimpleNamespace(array=self, copy_from_device_async=self._copy)

    def _copy(self, source, n_bytes):
        assert n_bytes == self.nbytes == source.array.nbytes
        self[...] = source.array

    def get(self):
        return self.view(np.ndarray)

    def set(self, x):
        self[...] = x


def emulated_cupy():
    module = ModuleType("cupy")
    made = lambda function: lambda *a, **k: function(*a, **k).view(EmulatedArray)  # noqa: E731
    for name in ("empty", "asarray", "ascontiguousarray"):
        setattr(module, name, made(getattr(np, name)))
    return module


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    parameters = {}
    for kernel in CHECKING_SOURCE.split('extern "C" __global__ void ')[1:]:
        name, inside = re.match(r"(\w+)\((.*?)\) \{", kernel, re.S).groups()
        parameters[name] = " ".join(inside.split())
    source = CHECKING_SOURCE.replace("#define THREADS 256", f"#define THREADS {THREADS}")
    return build(source, parameters, tmp_path_factory.mktemp("emulator"))


@pytest.fixture(
    params=[
        pytest.param("emulated", marks=needs_host_compiler()),
        pytest.param("real", marks=pytest.mark.gpu),
    ]
)
def xp(request, monkeypatch):
    """CuPy, or NumPy arrays with kernels that g++ compiled."""
    if request.param == "real":
        return cupy()
    library = request.getfixturevalue("library")

    def launch(name, blocks, arguments):
        assert getattr(library, f"run_{name}")(blocks, THREADS, *map(as_ctypes, arguments)) == 0

    module = emulated_cupy()
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(checking_kernels, "_launch", launch)
    monkeypatch.setattr(checking_kernels, "_THREADS", THREADS)
    monkeypatch.setattr(checking_kernels, "_MAX_BLOCKS", 3)
    return module


def host(x):
    return x.get()


def numbers(dtype, n, seed=0):
    """Random numbers of any dtype, integers of their whole range."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(n) < 0.5
    if dtype.kind in "iu":
        return np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).copy()
    if dtype.kind == "f":
        return rng.standard_normal(n).astype(dtype)
    return (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)


def both(xp, expected, got, operands=()):
    """What the host finds and what the kernel finds."""
    uploaded = tuple(xp.asarray(x) for x in operands)
    return expected.difference(got, operands), expected.difference(xp.asarray(got), uploaded)


def exactly(values, dtype=None):
    return Expected(values, np.dtype(dtype or values.dtype), 0.0)


@needs_compilers()
@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_compile_without_spills(name):
    assert raw_facts(CHECKING_SOURCE, name).spills == 0


@pytest.mark.parametrize("dtype", INTEGERS + ROUNDED)
@pytest.mark.parametrize("n", [1, 7, 24, 100])
def test_equal_arrays_of_every_dtype_are_equal(xp, dtype, n):
    x = numbers(dtype, n)
    for found in both(xp, exactly(x), x.copy()):
        assert (found.n_wrong, found.first_wrong, found.largest, found.tolerance) == (0, None, 0, 0)


@pytest.mark.parametrize("dtype", INTEGERS + ROUNDED)
def test_wrong_elements_are_counted_and_the_first_is_found(xp, dtype):
    x = numbers(dtype, 100)
    got = x.copy()
    for i in (37, 38, 99):
        got[i] = not got[i] if x.dtype.kind == "b" else got[i] + np.array(3, dtype)
    of_host, of_kernel = both(xp, exactly(x), got)
    assert of_kernel == of_host
    assert (of_kernel.n_wrong, of_kernel.first_wrong) == (3, 37)
    assert of_kernel.largest > 0 or x.dtype.itemsize == 8  # beyond 2**53 three is less than rounding


def test_integers_beyond_2_53_differ_at_distance_0(xp):
    x = np.full(50, 2**62, "int64")
    got = x.copy()
    got[20] += 1
    for found in both(xp, exactly(x), got):
        assert (found.n_wrong, found.first_wrong, found.largest) == (1, 20, 0)


@pytest.mark.parametrize("dtype", ROUNDED)
def test_nan_and_infinity_are_right_where_they_are_expected(xp, dtype):
    x = numbers(dtype, 40)
    x[:3] = np.nan, np.inf, -np.inf
    assert all(found.n_wrong == 0 for found in both(xp, exactly(x), x.copy()))
    for place, wrong in ((0, 1), (1, -np.inf), (5, np.inf)):
        got = x.copy()
        got[place] = wrong
        of_host, of_kernel = both(xp, exactly(x), got)
        assert (of_kernel.n_wrong, of_kernel.first_wrong) == (1, place)
        assert str(of_kernel.largest) == str(of_host.largest)


def test_nan_is_the_largest_difference(xp):
    x = np.zeros(60)
    got = x.copy()
    got[[11, 50]] = 1e300, np.nan
    found = both(xp, exactly(x), got)[1]
    assert (found.n_wrong, found.first_wrong) == (2, 11)
    assert np.isnan(found.largest)


def test_every_half_is_read_as_numpy_reads_it(xp):
    halves = np.arange(2**16, dtype="uint16").view("float16")
    found = both(xp, exactly(halves.astype("float64"), "float16"), halves)[1]
    assert found.n_wrong == 0


@pytest.mark.parametrize("dtype", ROUNDED)
@pytest.mark.parametrize("n_operands", range(MAX_OPERANDS + 1))
def test_tolerance_by_element_looks_at_expected_and_operands(xp, dtype, n_operands):
    wide = "complex128" if np.dtype(dtype).kind == "c" else "float64"
    values = numbers(dtype, 200)
    expected = Expected(values.astype(wide), np.dtype(dtype), 0.01)
    operands = tuple(numbers(kind, 200, seed=9 + i) for i, kind in enumerate([dtype, "int8", "float32"]))
    operands = operands[:n_operands]
    got = (values * np.linspace(0.97, 1.03, 200)).astype(dtype)
    got[17] = np.nan
    got[180] = 0
    of_host, of_kernel = both(xp, expected, got, operands)
    assert (of_kernel.n_wrong, of_kernel.first_wrong) == (of_host.n_wrong, of_host.first_wrong)
    got[17] = values[17]
    of_host, of_kernel = both(xp, expected, got, operands)
    assert of_kernel.largest == pytest.approx(of_host.largest, rel=1e-15)
    # NumPy rounds the magnitude of a narrow complex operand to its own precision.
    assert of_kernel.tolerance == pytest.approx(
        of_host.tolerance, rel=1e-6 if dtype == "complex64" else 1e-15
    )
    assert of_kernel.n_wrong == of_host.n_wrong


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("order", [1, -1])
def test_a_scale_that_is_not_finite_allows_nothing(xp, bad, order):
    expected = Expected(np.ones(30), np.dtype("f4"), 0.5)
    operands = (np.full(30, bad, "f4"), np.full(30, 7, "f4"))[::order]
    for found in both(xp, expected, np.full(30, 1.25, "f4"), operands):
        assert (found.n_wrong, found.tolerance) == (30, 0)


@pytest.mark.parametrize("magnitude", [np.array(4.0), np.arange(60.0).reshape(3, 20), np.arange(20.0)])
def test_magnitudes_of_all_or_of_each(xp, magnitude):
    expected = Expected(np.zeros((3, 20)), np.dtype("f4"), 0.1, magnitude)
    got = np.ones((3, 20), "f4")
    of_host, of_kernel = both(xp, expected, got)
    assert of_kernel == of_host


def test_without_memory_for_the_expected_array_blocks_are_uploaded(xp, monkeypatch):
    plain = xp.asarray

    def asarray(x):
        if not hasattr(x, "get") and x.size > 16:
            raise MemoryError
        return plain(x)

    expected = Expected(np.zeros(100), np.dtype("f4"), 0.1, np.arange(100.0))
    got = plain(np.ones(100, "f4"))
    whole = expected.difference(got, ())
    expected._uploaded.clear()
    monkeypatch.setattr(xp, "asarray", asarray)
    monkeypatch.setattr("gpuguide.measure.reference._DEVICE_BLOCK", 16)
    parts = expected.difference(got, ())
    assert (parts.n_wrong, parts.first_wrong, parts.largest) == (10, 0, 1)
    assert (whole.n_wrong, whole.first_wrong, whole.largest) == (10, 0, 1)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 100, 1000])
def test_bytes_that_differ_are_found(xp, n):
    x = np.arange(n).astype("uint8")
    for i in (0, n // 2, n - 1):
        y = x.copy()
        assert checking_kernels.first_difference(xp.asarray(x), xp.asarray(y)) is None
        if n:
            y[i:] ^= 128
            assert checking_kernels.first_difference(xp.asarray(x), xp.asarray(y)) == i


def test_arrays_that_are_not_aligned_are_compared(xp):
    x, y = (xp.asarray(np.zeros(1000, "uint8")) for _ in range(2))
    assert first_difference(x[1:900], y[3:902]) is None
    y[500] = 1
    assert first_difference(x[1:900], y[3:902]) == 497


def test_first_difference_counts_elements_and_takes_nan_for_equal(xp):
    a = np.arange(100.0)
    a[3] = np.nan
    b = a.copy()
    assert first_difference(xp.asarray(a), xp.asarray(b)) is None
    b[60] = 0
    assert first_difference(a, b) == first_difference(xp.asarray(a), xp.asarray(b)) == 60
    whole = a.view("int64"), b.view("int64")
    assert first_difference(*map(xp.asarray, whole)) == 60


@pytest.mark.parametrize("dtype", INTEGERS + ROUNDED)
@pytest.mark.parametrize("n", [0, 1, 3, 1000])
def test_guarded_arrays_are_filled_and_every_damage_is_seen(xp, dtype, n):
    made = GuardedArray(Space("device", xp), (n,), np.dtype(dtype), "random")
    made.fill()
    word, bits = pattern(np.dtype(dtype), "sentinel")
    assert (host(made.words()) == word.type(bits)).all()
    assert made.untouched()
    assert made.damage() == ""
    for zone, side in ((made._before, "before"), (made._after, "after")):
        for place in (0, len(zone) // 2, len(zone) - 1):
            zone.view(np.uint8)[place * word.itemsize] ^= 64
            assert made.damage() == side
            made.repaint()
            assert made.damage() == ""
    if n:
        made.words().view(np.uint8)[-1] ^= 64
        assert not made.untouched()


def test_inputs_are_copied_back_and_the_changed_one_is_named(xp):
    inputs = numbers("complex64", 50), 3, numbers("int16", 7)
    made = Buffers(Space("device", xp), inputs, ((5,), np.dtype("f4")), "exact")
    x, _, y, _ = made.arguments("cupy", with_output=True)
    assert made.changed_input() is None
    y[4] += 1
    assert made.changed_input() == (2, 4)
    x[49] += 1
    assert made.changed_input() == (0, 49)
    made.reset()
    assert made.changed_input() == (2, 4)
    made.restore()
    assert made.changed_input() is None
    assert host(x).tolist() == inputs[0].tolist()


@pytest.mark.gpu
def test_on_a_gpu_large_arrays_are_compared_by_many_blocks():
    cp = cupy()
    x = np.random.default_rng(3).random(10**7, dtype="float32")
    got = x.copy()
    got[[5_000_001, 9_999_999]] += 1
    of_host, of_kernel = both(cp, Expected(x.astype("float64"), np.dtype("f4"), 1e-6), got)
    assert of_kernel == of_host
    assert (of_kernel.n_wrong, of_kernel.first_wrong) == (2, 5_000_001)
    assert first_difference(cp.asarray(x.view("u4")), cp.asarray(got.view("u4"))) == 5_000_001
