"""The larger of two numbers and square roots, which the page times: right in the simulator, and compiled."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from page_cells import functions

from compile_lane import needs_compilers, numba_facts
from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import MismatchError
from gpuguide.topics.benchmark_well import kernels
from gpuguide.topics.benchmark_well.kernels import CLOSE
from gpuguide.topics.benchmark_well.study import count_steps, far_guesses, roots

FLOAT64 = np.dtype(np.float64)


def test_a_root_that_is_one_step_short_is_rejected() -> None:
    """Newton's method stopped before its last step is right to half the digits, which is not enough."""

    def improve_too_little(guess: np.ndarray, number: np.ndarray) -> None:
        for _ in range(int(count_steps(guess, number).min()) - 2):
            guess[...] = 0.5 * (guess + number / guess)

    spoiled = replace(roots.variant("newton"), call=improve_too_little, device="cpu", clock="host", grid=None)
    with pytest.raises(MismatchError):
        replace(roots, variants=(spoiled,), baseline="").check_all([257])


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


@pytest.mark.parametrize("exact", [True, False])
def test_guesses_are_far_and_roots_are_not(exact: bool) -> None:
    guess, number = far_guesses(5000, FLOAT64, np.random.default_rng(3), exact)
    assert guess is not number
    assert number.min() >= 1
    assert number.max() <= 2**40
    assert count_steps(guess, number).mean() > 15
    assert (count_steps(np.sqrt(number), number) == 1).all()


def test_squares_of_whole_numbers_come_out_exact() -> None:
    """Each step is rounded as on the GPU: IEEE 754 division, addition and multiplication."""
    root = np.arange(1.0, 2.0**20, 7)
    number = root**2
    x, is_open = number.copy(), np.ones(len(root), bool)
    while is_open.any():
        better = 0.5 * (x + number / x)
        is_close = np.abs(better - x) <= CLOSE * better
        x = np.where(is_open, better, x)
        is_open &= ~is_close
    assert (x == root).all()


def test_a_second_call_finds_roots_in_the_simulator(simulator_python: Callable[..., str]) -> None:
    snippet = """
import numpy as np
from gpuguide.topics.benchmark_well.study import count_steps, far_guesses, grid
from gpuguide.topics.benchmark_well.kernels import newton
guess, number = far_guesses(300, np.dtype("float64"), np.random.default_rng(0), False)
newton[grid(300)](guess, number)
first = guess.copy()
newton[grid(300)](guess, number)
print((guess == first).all(), count_steps(first, number).max())
"""
    assert simulator_python(snippet) == "True 1\n"


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


def test_the_first_call_of_a_benchmark_is_not_timed(gpu: FakeGpu, page: dict[str, Any]) -> None:
    compiling = iter([COMPILE_NS, *[0] * 9])

    def call() -> None:
        gpu.host.advance(next(compiling))
        gpu.kernel(WORK_NS)()

    assert max(page["benchmark"](call, lambda: None, n_samples=3)) == pytest.approx(WORK_NS / 1e9)


def test_nobody_puts_the_data_back(gpu: FakeGpu, page: dict[str, Any]) -> None:
    """The work is what is left of it: much in the first call, little from the second one on."""
    left = [WORK_NS, 1_000]

    def call() -> None:
        gpu.kernel(left.pop(0) if len(left) > 1 else left[0])()

    assert page["benchmark"](call, lambda: None, n_samples=3) == pytest.approx([1e-6] * 3)


def test_without_waiting_sees_the_launch_alone(gpu: FakeGpu, page: dict[str, Any]) -> None:
    assert page["without_waiting"](gpu.kernel(WORK_NS)) == pytest.approx(LAUNCH_NS / 1e9)


@pytest.mark.parametrize("n", [10, 100])
def test_an_average_holds_its_share_of_the_compilation(gpu: FakeGpu, page: dict[str, Any], n: int) -> None:
    """The formula of the page: a call, and the n-th part of the compilation."""
    compiling = iter([COMPILE_NS, *[0] * n])

    def launch(*_: Any) -> None:
        gpu.host.advance(next(compiling))
        gpu.kernel(WORK_NS)()

    page["large"] = (np.empty(512),)
    average = page["average"]({(2, 256): launch}, n)
    assert average == pytest.approx((COMPILE_NS + LAUNCH_NS + n * WORK_NS) / n / 1e9)
