"""A polynomial for many numbers: on the CPU and in the compiler."""

import numpy as np

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.why_gpu import kernels
from gpuguide.topics.why_gpu import study as why_gpu


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
