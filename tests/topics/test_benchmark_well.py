"""Square roots as the compiler has them, and the page's benchmarks on a clock that is made up."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from page_cells import functions

from compile_lane import needs_compilers, numba_facts
from fake_clock import FakeGpu, FakeHost
from gpuguide.topics.benchmark_well import kernels


@needs_compilers()
def test_newtons_method_reads_its_number_once() -> None:
    """The loop works in registers, so that what a call costs is steps and not loads."""
    from numba import float64

    facts = numba_facts(kernels.newton, (float64[::1], float64[::1]))
    assert facts.spills == 0
    assert (facts.count("ld.global"), facts.count("st.global")) == (2, 1)
    assert facts.count("div.rn.f64") == 1


@needs_compilers()
def test_the_rival_is_one_instruction() -> None:
    from numba import float64

    facts = numba_facts(kernels.square_root, (float64[::1], float64[::1]))
    assert (facts.count("sqrt.rn.f64"), facts.count("div")) == (1, 0)
    assert (facts.spills, facts.count("ld.global"), facts.count("st.global")) == (0, 1, 1)


# The benchmarks of the page, right and wrong ---------------------------------------------------------------

LAUNCH_NS, WORK_NS, COLD_NS, COMPILE_NS = 20_000, 50_000, 30_000, 10**9


@pytest.fixture
def gpu() -> Iterator[FakeGpu]:
    """A GPU with a clear account: a launch, some work, more from a cold cache, and nothing else."""
    fake = FakeGpu(FakeHost(), launch_ns=LAUNCH_NS, overhead_ns=0, gap_ns=0)
    with fake.use():
        yield fake


@pytest.fixture
def page(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    return functions("benchmark_well", monkeypatch, gpu.host, gpu)


def test_the_right_benchmark_sees_the_work_from_the_state_that_was_made(
    gpu: FakeGpu, page: dict[str, Any]
) -> None:
    call = gpu.kernel(WORK_NS, cold_ns=COLD_NS)
    cold, warm = (page["benchmark"](call, prepare, n_samples=3) for prepare in (gpu.flush, call))
    assert cold == pytest.approx([(WORK_NS + COLD_NS) / 1e9] * 3)
    assert warm == pytest.approx([WORK_NS / 1e9] * 3)


def test_without_waiting_sees_the_launch_alone(gpu: FakeGpu, page: dict[str, Any]) -> None:
    assert page["without_waiting"](gpu.kernel(WORK_NS)) == pytest.approx(LAUNCH_NS / 1e9)


def test_an_average_holds_its_share_of_the_compilation(gpu: FakeGpu, page: dict[str, Any]) -> None:
    """The formula of the page: a call, and the n-th part of the compilation."""
    n = 10
    compiling = iter([COMPILE_NS, *[0] * n])

    def launch(*_: Any) -> None:
        gpu.host.advance(next(compiling))
        gpu.kernel(WORK_NS)()

    page["large"] = (np.empty(512),)
    average = page["average"]({(2, 256): launch}, n)
    assert average == pytest.approx((COMPILE_NS + LAUNCH_NS + n * WORK_NS) / n / 1e9)
