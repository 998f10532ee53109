"""Memory by mixes of reads and writes: kernels, checks, traffic."""

from collections.abc import Callable

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.know_your_gpu import kernels
from gpuguide.topics.know_your_gpu import study as know_your_gpu


def test_one_array_can_be_had_in_three_ways() -> None:
    a, b = know_your_gpu.study().make_inputs(4 * 100_000, exact=False)
    assert bool((np.maximum(a, b) == a).all())
    assert bool((a == np.arange(100_000) % 2**24).all())
    assert bool((b < a)[1:].all()), "the second array alone must not be the answer"


@needs_compilers()
@pytest.mark.parametrize(
    ("kernel", "arrays", "loads", "stores"),
    [
        (kernels.write, 1, 0, 4),
        (kernels.copy, 2, 5, 5),
        (kernels.two_to_one, 3, 10, 5),
        (kernels.read, 2, 16, 1),
    ],
    ids=["write", "copy", "two_to_one", "read"],
)
def test_kernels_compile(kernel: Callable[..., None], arrays: int, loads: int, stores: int) -> None:
    from numba import float32

    facts = numba_facts(kernel, (float32[::1],) * arrays)
    assert facts.spills == 0
    assert facts.registers <= 64
    assert facts.count("ld.global") >= loads
    assert (facts.count("ld.global") == 0) == (loads == 0)
    assert facts.count("st.global") >= stores
    assert facts.count("cvt.rn.f64") == 0, "no double precision by accident"


def test_the_traffic_follows_from_the_bytes() -> None:
    float32 = np.dtype("float32")
    counts = [
        (traffic.bytes_read, traffic.bytes_written)
        for traffic in (
            know_your_gpu.write_traffic(4096, float32),
            know_your_gpu.copy_traffic(4096, float32),
            know_your_gpu.two_to_one_traffic(4096, float32),
            know_your_gpu.read_traffic(2**20, float32),
        )
    ]
    assert counts == [(0, 4096), (4096, 4096), (8192, 4096), (2**20, 256)]
