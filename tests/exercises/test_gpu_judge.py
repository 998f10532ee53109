"""The GPU lane's logic, on a stand-in that runs NumPy code in place of a kernel; and on a real GPU."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import answers
import numpy as np
import pytest

from gpuguide.errors import BackendError
from gpuguide.exercises import gpu_judge
from gpuguide.exercises.cases import fortran, poisoned, strided
from gpuguide.exercises.gpu_judge import judge_launches
from gpuguide.exercises.guarded import GUARD_BYTES, GuardedBytes
from gpuguide.exercises.model import KernelTask
from gpuguide.exercises.pool import get, names
from gpuguide.exercises.reading import read_source
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED
from gpuguide.exercises.worker_process import LIMIT_S, WorkerProcess, describe, read_ending
from gpuguide.machine import compilers


class FakeGpu:
    """Copies the images, and lets a Python function write into the arrays and around them."""

    def __init__(self, work) -> None:
        self.work, self.n_launches = work, 0

    def launch(self, call, images: Mapping[str, GuardedBytes]) -> dict[str, Any]:
        held = {name: image.image.copy() for name, image in images.items()}
        self.n_launches += 1
        self.work(self.n_launches, held, **{name: images[name].view(raw) for name, raw in held.items()})
        return held


def judged(work, n_repeat: int = 3):
    said: list[str] = []
    gpu = FakeGpu(work)
    report = judge_launches(answers.exercise().task, answers.answer(), gpu, said.append, n_repeat)
    return report, gpu, said


def double(n, held, x, out) -> None:
    out[...] = 2 * x


def test_every_launch_is_repeated_and_announced() -> None:
    report, gpu, said = judged(double)
    calls = answers.calls()
    assert (report.state, report.n_calls) == (PASSED, len(calls))
    assert gpu.n_launches == 3 * len(calls)
    assert said == [call.label for call in calls]
    assert report.notes == ("Each was repeated 3 times.",)


def test_what_is_right_bit_by_bit_is_not_compared_element_by_element(monkeypatch) -> None:
    """A launch may have hundreds of thousands of elements, and is repeated."""
    monkeypatch.setattr(gpu_judge, "compared", lambda *_: pytest.fail("was compared"))
    assert judged(double)[0].passed


def test_a_launch_for_the_gpu_alone_is_made_here() -> None:
    calls = [replace(call, gpu_only=True) for call in answers.calls()]
    gpu, task = FakeGpu(double), KernelTask(lambda: calls, parameters=("x", "out"))
    assert judge_launches(task, answers.answer(), gpu, lambda label: None, 1).passed
    assert gpu.n_launches == len(calls)


def test_outputs_are_poisoned_before_each_repeat() -> None:
    def once(n, held, x, out) -> None:
        if n == 1:
            out[...] = 2 * x

    report, _, _ = judged(once)
    assert report.findings[0].message.endswith("The same launch was right once before, so the threads race.")


def test_a_rare_mistake_is_found_and_called_a_race() -> None:
    def rarely(n, held, x, out) -> None:
        out[...] = 2 * x
        if n == 3 and out.size:
            out[0] += 1

    report, _, _ = judged(rarely)
    x = answers.calls()[0].arguments["x"]
    (finding,) = report.findings
    assert finding.message == (
        f"out[0] should be {2 * x[0]} and is {2 * x[0] + 1}. "
        "The same launch was right 2 times before, so the threads race."
    )
    assert finding.line == 8
    assert (report.state, report.call) == (FAILED, answers.calls()[0].label)


@pytest.mark.parametrize(
    ("offset", "side"),
    [(-1, "before"), (4, "behind"), (-GUARD_BYTES, "before"), (GUARD_BYTES - 1 + 4, "behind")],
)
def test_writing_beside_an_array_is_a_finding(offset: int, side: str) -> None:
    def beside(n, held, x, out) -> None:
        out[...] = 2 * x
        held["out"][GUARD_BYTES + offset] ^= 1

    report, _, _ = judged(beside)
    (finding,) = report.findings
    assert (finding.kind, finding.message) == ("gpu", f"The kernel wrote outside its arrays: {side} out.")


def test_changing_an_input_is_a_finding() -> None:
    def change(n, held, x, out) -> None:
        out[...] = 2 * x
        x += 1

    report, _, _ = judged(change)
    assert report.findings[0].kind == "input_changed"
    assert report.findings[0].message.startswith("x is an input, but the kernel changed it: x[0] was ")


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (
            "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
            "gpu",
            "The GPU stopped the kernel because it touched memory outside all its arrays.",
        ),
        (
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested",
            "gpu",
            "The GPU cannot hold a block of this kernel: it takes too many registers.",
        ),
        (
            "CUDA_ERROR_LAUNCH_TIMEOUT: the launch timed out",
            "endless",
            "The kernel did not end on the GPU, so the driver stopped it.",
        ),
        (
            "[700] Call to cuLaunchKernel results in CUDA_ERROR_WEIRD\nmore",
            "gpu",
            "The launch failed: CudaAPIError: [700] Call to cuLaunchKernel results in CUDA_ERROR_WEIRD.",
        ),
    ],
)
def test_errors_of_the_driver_become_findings(raised: str, kind: str, message: str) -> None:
    class CudaAPIError(Exception):
        """As Numba calls it."""

    CudaAPIError.__module__ = "numba.cuda.cudadrv.driver"

    def fail(n, held, x, out) -> None:
        raise CudaAPIError(raised)

    report, _, _ = judged(fail)
    (finding,) = report.findings
    assert (finding.kind, finding.message) == (kind, message)


def test_a_full_memory_is_no_finding() -> None:
    def full(n, held, x, out) -> None:
        raise RuntimeError("cudaErrorMemoryAllocation: out of memory")

    report, _, _ = judged(full)
    assert (report.state, report.reason) == (
        NOT_AT_HAND,
        "The GPU has too little free memory at the moment.",
    )


def test_a_missing_compiler_is_no_finding(monkeypatch) -> None:
    """Numba looks for its libraries in the first launch; that they are not there is no reader's fault."""

    def fail(n, held, x, out) -> None:
        raise RuntimeError('Failure finding "libnvrtc.so.13 or libnvrtc.so.12": No such file')

    why = "NVIDIA's compiler is not installed (NVRTC is missing)"
    monkeypatch.setattr(compilers, "why_not", lambda target: why)
    report, _, _ = judged(fail)
    assert (report.state, report.findings) == (NOT_AT_HAND, ())
    assert report.reason == f"{why}. 'gpuguide doctor' says what to install."
    monkeypatch.setattr(compilers, "why_not", lambda target: "")
    assert judged(fail)[0].state == FAILED, "where kernels compile, the error says what it is"


def test_a_driver_older_than_the_compiler_is_no_finding() -> None:
    def fail(n, held, x, out) -> None:
        raise RuntimeError("[222] Call to cuLinkAddData results in CUDA_ERROR_UNSUPPORTED_PTX_VERSION")

    report, _, _ = judged(fail)
    assert (report.state, report.reason) == (
        NOT_AT_HAND,
        "The driver cannot run the compiler's code, because the compiler is newer. "
        "'gpuguide doctor' says what to install.",
    )


def test_what_cannot_be_imported_is_not_at_hand(monkeypatch) -> None:
    def missing(kernel) -> None:
        raise BackendError("CuPy is not installed. Install it.")

    monkeypatch.setattr(gpu_judge, "CudaGpu", missing)
    monkeypatch.setattr(gpu_judge, "build", lambda answer: SimpleNamespace(kernel=None))
    report = gpu_judge.judge_on_gpu(answers.exercise(), answers.answer(), print)
    assert (report.state, report.reason) == (NOT_AT_HAND, "CuPy is not installed. Install it.")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(7, dtype=np.int16),
        np.arange(6.0).reshape(2, 3),
        fortran(np.arange(6.0).reshape(2, 3)),
        strided(np.arange(5, dtype=np.float32)),
        strided(np.arange(6, dtype=np.complex64).reshape(2, 3)),
        np.zeros((0, 3), np.float32),
        poisoned(3, np.bool_),
        np.arange(3, dtype=np.uint8),
    ],
)
def test_guarded_bytes_hold_the_array_in_its_own_strides(array) -> None:
    guarded = GuardedBytes(array, "sentinel")
    view = guarded.view(guarded.image)
    assert (view.shape, view.dtype) == (array.shape, array.dtype)
    assert array.size == 0 or view.strides == array.strides
    assert view.tobytes() == array.tobytes()
    after = guarded.image.copy()
    guarded.view(after)[...] = 0
    assert guarded.damage(after) == "", "its own elements may change"


def test_gaps_between_elements_are_guarded_too() -> None:
    guarded = GuardedBytes(strided(np.arange(5, dtype=np.float32)), "exact")
    after = guarded.image.copy()
    after[GUARD_BYTES + 4] += 1
    assert guarded.damage(after) == "between the elements of"


def on_gpu(source: str, exercise: str = "guard"):
    answer = read_source(source)
    with WorkerProcess(["gpu"]) as worker:
        return read_ending("gpu", worker.judge("gpu", describe(get(exercise), answer), LIMIT_S["gpu"]))


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in names() if "gpu" in get(name).lanes])
def test_every_solution_passes_on_the_gpu(name: str) -> None:
    report = on_gpu(get(name).solution, name)
    assert report.passed, (report.reason, report.findings, report.printed)


@pytest.mark.gpu
def test_a_missing_guard_is_seen_on_the_gpu() -> None:
    report = on_gpu(get("guard").stub)
    assert report.state == FAILED
    assert report.findings[0].message == "The kernel wrote outside its arrays: behind out."


@pytest.mark.gpu
def test_an_illegal_address_ends_the_worker_only() -> None:
    source = get("guard").solution.replace("out[i] = max(", "out[i + 2**40] = max(")
    report = on_gpu(source)
    assert report.state == FAILED
    assert "touched memory outside all its arrays" in report.findings[0].message


@pytest.mark.gpu
def test_an_endless_kernel_is_stopped() -> None:
    source = get("guard").solution.replace("if i < out.size:", "while i < out.size:")
    report = on_gpu(source)
    assert (report.state, report.findings[0].kind) == (FAILED, "endless")
    assert report.call


@pytest.mark.gpu
def test_a_race_is_seen_in_one_of_the_repeats() -> None:
    atomic, plain = "cuda.atomic.add(counts, value, 1)", "counts[value] += 1"
    source = get("histogram").solution
    assert atomic in source
    assert on_gpu(source.replace(atomic, plain), "histogram").state == FAILED


@pytest.mark.gpu
def test_what_a_kernel_prints_does_not_disturb_the_verdict() -> None:
    source = get("guard").solution.replace("    if i < out.size:", "    print(i)\n    if i < out.size:")
    report = on_gpu(source)
    assert report.passed
    assert report.printed.splitlines()[-1].strip().isdigit()
