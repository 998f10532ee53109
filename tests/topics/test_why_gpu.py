"""A polynomial for many numbers: on the CPU and in the compiler."""

import numpy as np
from topic_sizes import SIZES

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.why_gpu import kernels
from gpuguide.topics.why_gpu import study as why_gpu


def test_the_compiled_loop_equals_the_reference() -> None:
    report = why_gpu.study.check_all((*SIZES, 10**6 + 3), ("cpu_threads",))
    assert len(report) == 2 * (len(SIZES) + 1)


def test_the_reference_is_the_polynomial_of_numpy() -> None:
    x = np.linspace(-2, 2, 3 * why_gpu.PART)
    expected = np.polynomial.polynomial.polyval(x, kernels.COEFFICIENTS[::-1].astype(float))
    np.testing.assert_allclose(why_gpu.reference(x), expected, rtol=1e-13, atol=1e-12)


@needs_compilers()
def test_the_kernel_compiles_without_float64_and_reads_each_number_once() -> None:
    from numba import float32

    facts = numba_facts(kernels.gpu_threads, (float32[::1], float32[::1]))
    assert facts.spills == 0
    assert not any(".f64" in opcode for opcode in facts.instructions)
    assert facts.count("fma.rn.f32") == why_gpu.DEGREE
    assert facts.count("st.global") == 1


def test_the_formula_as_one_writes_it_stays_in_float32() -> None:
    x = np.linspace(0, 1, 1000, dtype=np.float32)
    written, out = why_gpu.polynomial(x), np.empty_like(x)
    why_gpu.numpy_out(x, out)
    assert written.dtype == np.float32
    assert (written == out).all()
    np.testing.assert_allclose(written, why_gpu.reference(x), rtol=1e-6)
