"""Ufuncs on both processors: against their references, compiled for the GPU, and what Numba's own do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.topics.ufuncs import (
    kepler,
    kernels,
    kernels_kepler,
    kernels_rows,
    row_ufuncs,
    ufunc_parts,
)
from gpuguide.topics.ufuncs import study as ufuncs

MODULES = {"study": ufuncs, "kepler": kepler, "row_ufuncs": row_ufuncs}


def test_the_simulator_has_no_ufuncs(simulator_python: Callable[..., str]) -> None:
    """The day that this fails, the variants of the studies can run in the simulator, too."""
    printed = simulator_python("""
import numpy as np
from gpuguide.topics.ufuncs import kernels, kernels_rows, row_ufuncs, study as ufuncs
points = np.zeros((2, 3), np.float32)
for call in (kernels.gpu_ufunc, lambda: kernels_rows.gpu_gufunc()(points, points)):
    try:
        call()
    except AttributeError as error:
        print(error)
""")
    assert printed.splitlines() == [
        "'FakeOverload' object has no attribute 'signature'",
        "module 'numba.cuda' has no attribute 'is_cuda_array'",
    ]


def test_the_nan_rule_is_that_of_the_reference() -> None:
    """A ufunc of Numba's max would give the first of the two on a CPU."""
    nan, one = np.float32("nan"), np.float32(1)
    a, b = np.array([nan, one, nan, 2], np.float32), np.array([one, nan, nan, one], np.float32)
    expected = ufuncs.maximum_reference(a, b)
    for call in (ufuncs.maximum_cpu, ufuncs.maximum_cpu_threads, kernels.maximum_cpu_loop):
        out = np.empty_like(a)
        with np.errstate(invalid="ignore"):  # comparing with NaN sets a flag that NumPy reports
            call(a, b, out)
        assert np.array_equal(out, expected, equal_nan=True)
    assert np.array_equal(expected, [1, nan, nan, 2], equal_nan=True)


@pytest.mark.parametrize("eccentricity", [0.0, 0.1, 0.5, kepler.MOST_ECCENTRIC])
@pytest.mark.parametrize(
    "solve", [kepler.anomaly_cpu, kernels_kepler.anomaly_cpu_loop], ids=["ufunc", "loop"]
)
def test_eight_steps_solve_keplers_equation(solve: Callable[..., Any], eccentricity: float) -> None:
    mean = np.linspace(0, np.pi, 2001).astype(np.float32)
    orbit = np.full_like(mean, eccentricity)
    out = np.empty_like(mean)
    solve(mean, orbit, out)
    largest, tolerance = kepler.KeplerCheck().compare(out, (mean, orbit))
    assert largest <= tolerance / 3
    assert np.abs(out - kepler.anomaly_reference(mean, orbit)).max() <= tolerance / 3


def test_the_check_sees_a_result_that_is_no_number() -> None:
    inputs = (np.ones(2, np.float32), np.zeros(2, np.float32))
    with pytest.raises(MismatchError, match="no finite number"):
        kepler.KeplerCheck().compare(np.array([1, np.nan], np.float32), inputs)


def stager(core: Callable[..., Any]) -> Callable[..., Any]:
    """Write the kernel that numba-cuda's @vectorize writes around a function of two numbers."""
    from numba import cuda
    from numba.cuda import vectorizers

    elements = {"args": "a0, a1", "argitems": "a0[__tid__], a1[__tid__]"}
    source = vectorizers.vectorizer_stager_source.format(name="core", **elements)
    names: dict[str, Any] = {"__cuda__": cuda, "__core__": cuda.jit(core, device=True)}
    exec(source, names)
    kernel: Callable[..., Any] = names["__vectorized_core"]
    return kernel


@needs_compilers()
@pytest.mark.parametrize(
    ("core", "divisions"),
    [(kernels.larger, 0), (kernels_kepler.anomaly, kernels_kepler.STEPS)],
    ids=["larger", "anomaly"],
)
def test_the_kernel_of_a_ufunc_computes_in_float32(core: Callable[..., Any], divisions: int) -> None:
    """A literal 1.0 in Kepler's equation would have turned its divisions into float64."""
    from numba import float32

    facts = numba_facts(stager(core), (float32[::1],) * 3)
    assert facts.spills == 0
    assert (facts.count("ld.global.f32"), facts.count("st.global")) == (2, 1)
    assert (facts.count("div.rn.f32"), facts.count("div.rn.f64")) == (divisions, 0)
    assert facts.count("cvt.f64.f32") == 0
    assert facts.count("call") == 0, "the function is inlined"


@needs_compilers()
@pytest.mark.parametrize(
    ("kernel", "signature", "loads"),
    [
        (kernels.maximum_kernel, "float32[::1], float32[::1], float32[::1]", 2),
        (kernels_rows.distance_kernel, "float32[:, ::1], float32[:, ::1], float32[::1]", 2),
    ],
    ids=["maximum", "distance"],
)
def test_kernels_compile_to_float32(kernel: Any, signature: str, loads: int) -> None:
    from numba.core.sigutils import normalize_signature

    facts = numba_facts(kernel, normalize_signature(f"void({signature})")[0])
    assert facts.spills == 0
    assert facts.count("ld.global") >= loads
    assert facts.count("st.global") == 1
    assert not [opcode for opcode in facts.instructions if opcode.endswith(".f64")]


@pytest.mark.parametrize("loop", [kernels.maximum_cpu_loop, kernels_kepler.anomaly_cpu_loop])
def test_loops_on_the_cpu_refuse_shapes_that_differ(loop: Any) -> None:
    """A compiled loop would read and write beyond the shorter array."""
    long, short = np.ones(4, np.float32), np.ones(3, np.float32)
    for arrays in ((short, long, long), (long, short, long), (long, long, short)):
        with pytest.raises(ValueError, match="three arrays of one shape"):
            loop(*arrays)


def test_the_loop_over_rows_refuses_shapes_that_do_not_fit() -> None:
    points, out = np.ones((4, 3), np.float32), np.ones(4, np.float32)
    for arrays in ((points, points[:, :2], out), (points[:3], points, out), (points, points, out[:3])):
        with pytest.raises(ValueError, match=r"shapes \(n, d\), \(n, d\), \(n,\)"):
            kernels_rows.distance_cpu_loop(*arrays)


@pytest.mark.parametrize("module", MODULES)
def test_the_gpu_is_held_against_a_loop_on_all_cpu_threads(module: str) -> None:
    """Numba's ufunc for all threads is far behind that loop, so it is no fair rival."""
    study = MODULES[module].study()
    assert study.baseline == "cpu_loop"
    (loop,) = (variant for variant in study.variants if variant.name == "cpu_loop")
    assert (loop.device, loop.threads) == ("cpu", ufuncs.ALL_THREADS)


def test_the_source_sizes_and_dtype_are_among_those_measured() -> None:
    study = ufuncs.study()
    assert study.dtype == "float32"
    assert {32**3, 128**3, 256**3} <= set(study.sizes)
    assert len(study.sizes) >= 6
    assert study.sizes[-1] >= 1000 * study.sizes[0]


def test_the_traffic_counts_unique_bytes_and_operations() -> None:
    dtype = np.dtype("float32")
    assert ufuncs.maximum_traffic(1000, dtype).bytes_total == 12_000
    assert kepler.anomaly_traffic(1000, dtype).flops == 1000 * (1 + 8 * 9)
    distance = row_ufuncs.distance_traffic(1000, dtype)
    assert (distance.bytes_read, distance.bytes_written, distance.flops) == (24_000, 4000, 9000)


def test_the_parts_ask_for_samples_before_they_ask_for_a_gpu() -> None:
    host = np.ones(4, np.float32)
    with pytest.raises(ArgumentError, match="at least 1 sample; got 0"):
        ufunc_parts.first_call_parts(host, host, n_turns=0)
    with pytest.raises(ArgumentError, match="at least 1 sample; got 0"):
        ufunc_parts.host_time_while_busy(lambda: None, n_samples=0)


def test_the_parts_lie_between_the_marks() -> None:
    assert ufunc_parts._between([5.0, 8.0, 10.0], ("whole", "compile")) == {"whole": 3.0, "compile": 2.0}


@pytest.mark.gpu
def test_a_ufunc_takes_any_shape_and_cupy_arrays() -> None:
    import cupy as cp

    a, b = cp.random.random((2, 5, 6, 7), dtype=cp.float32)
    larger = cp.asarray(kernels.gpu_ufunc()(a, b))
    assert larger.shape == (5, 6, 7)
    assert bool((larger == cp.maximum(a, b)).all())


@pytest.mark.gpu
def test_a_gpu_ufunc_has_no_types_but_those_it_was_given() -> None:
    from numba import vectorize

    x = np.ones(3)
    with pytest.raises(TypeError, match="No matching version"):
        kernels.gpu_ufunc()(x, x)
    with pytest.raises(TypeError, match="No matching version"):
        vectorize(target="cuda")(kernels.larger)(x, x)


@pytest.mark.gpu
def test_a_ufunc_waits_for_the_stream_of_cupy_arrays_and_not_for_views() -> None:
    import cupy as cp

    from gpuguide.machine.backends import current_stream, numba_view
    from gpuguide.measure.session import current

    gpu = current().machine.gpu
    assert gpu is not None
    with gpu.use():
        arrays = [cp.zeros(32**3, cp.float32) for _ in range(3)]
        views = [numba_view(x) for x in arrays]

    def call(a: Any, b: Any, out: Any) -> None:
        kernels.gpu_ufunc()(a, b, out=out, stream=current_stream())

    busy_s = ufunc_parts.BUSY_NS / 1e9
    assert min(ufunc_parts.host_time_while_busy(lambda: call(*arrays), 5)) > 0.9 * busy_s
    assert min(ufunc_parts.host_time_while_busy(lambda: call(*views), 5)) < 0.5 * busy_s


@pytest.mark.gpu
@pytest.mark.slow
def test_the_parts_of_calls_add_up() -> None:
    a, b = ufuncs.study().make_inputs(256**3, exact=False)
    first = {
        name: np.median(taken) for name, taken in ufunc_parts.first_call_parts(a[: 32**3], b[: 32**3]).items()
    }
    assert 0.85 <= first["compile"] / first["whole"] <= 1.1
    later = {name: np.median(taken) for name, taken in ufunc_parts.later_call_parts(a, b).items()}
    assert 0.9 <= (later["there"] + later["work"] + later["back"]) / later["whole"] <= 1.1


def test_without_a_gpu_the_parts_say_so(fresh_python: Callable[..., str]) -> None:
    """In a process that sees no GPU, on machines that have one, too."""
    printed = fresh_python(
        """
import numpy as np
from gpuguide.errors import NoGpuError
from gpuguide.topics.ufuncs import ufunc_parts
host = np.ones(4, np.float32)
for call in (
    lambda: ufunc_parts.first_call_parts(host, host),
    lambda: ufunc_parts.later_call_parts(host, host),
    lambda: ufunc_parts.host_time_while_busy(lambda: None),
):
    try:
        call()
    except NoGpuError:
        print("no GPU")
""",
        CUDA_VISIBLE_DEVICES="",
    )
    assert printed.split("\n") == ["no GPU"] * 3 + [""]
