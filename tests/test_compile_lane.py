"""The compile lane itself: it finds the right kernel, its spills and its errors."""

from __future__ import annotations

import pytest
from numba import types

from compile_lane import needs_compilers, numba_facts, ptx_facts, raw_facts, raw_ptx
from gpuguide.machine.backends import cuda, jit, simulated

pytestmark = needs_compilers()

TWO = """
extern "C" __global__ void first(float* x) { x[threadIdx.x] *= 2.0f; }
extern "C" __global__ void second(float* x) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[255 - threadIdx.x];
}
"""

SPILLING = """
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(float* x) {
    float v[96];
#pragma unroll
    for (int i = 0; i < 96; ++i) v[i] = x[i * 1024 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 96; ++i) x[i * 1024 + threadIdx.x] = v[95 - i] * v[i];
}
"""


def test_a_kernel_is_found_by_name_among_others():
    first, second = raw_facts(TWO, "first"), raw_facts(TWO, "second")
    assert (first.shared_bytes, second.shared_bytes) == (0, 1024)
    assert (first.count("bar.sync"), second.count("bar.sync")) == (0, 1)
    assert first.count("mul.f32") + first.count("add.f32") == 1


def test_an_unknown_kernel_is_named_with_those_there_are():
    with pytest.raises(LookupError, match=r"'third', found \[\] of \['first', 'second'\]"):
        ptx_facts(raw_ptx(TWO), "third")


def test_spills_are_seen():
    facts = raw_facts(SPILLING, "spilling")
    assert facts.registers == 32
    assert facts.spill_store_bytes > 0
    assert facts.spill_load_bytes > 0


def test_an_error_in_the_source_comes_with_the_compiler_s_log():
    with pytest.raises(RuntimeError, match='identifier "nothing" is undefined'):
        raw_facts('extern "C" __global__ void broken() { nothing(); }', "broken")


@pytest.mark.skipif(simulated(), reason="the simulator compiles nothing")
def test_a_numba_kernel_is_compiled_for_the_given_types():
    @jit
    def double_kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] * 2.1

    facts = numba_facts(double_kernel, (types.float32[::1], types.float32[::1]))
    assert facts.count("ld.global") == facts.count("st.global") == 1
    assert facts.count("cvt.f64.f32") == 1  # 2.1 is a double: the product is too
    assert facts.spills == 0
