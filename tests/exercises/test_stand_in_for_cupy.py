"""The stand-in for CuPy: what is a launch, a copy or neither, what does not mix, and how streams overlap."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.exercises.judging import RefusedError, clock_mistake, difference, in_order, in_time
from gpuguide.exercises.stand_in_cupy import Cupy, bounds
from gpuguide.exercises.virtual_gpu import Costs, VirtualGpu

X = np.arange(6, dtype=np.float32).reshape(2, 3)

# Code on an array x of the GPU, and what it asks the GPU for.
LOGS = {
    "x + 1": ["launch"],
    "2 * cp.sin(x)": ["launch", "launch"],
    "cp.asarray(host)": ["to_device"],
    "cp.array([1.0, 2.0])": ["to_device"],
    "cp.asarray(2.0)": [],
    "x * cp.asarray(2.0)": ["launch"],
    "x.T": [],
    "x[0]": [],
    "x[:, cp.newaxis]": [],
    "x.reshape(3, 2)": [],
    "x[x > 1]": ["launch", "launch"],
    "cp.empty_like(x)": [],
    "cp.zeros(3)": ["launch"],
    "x.get()": ["to_host"],
    "float(x.sum())": ["launch", "to_host"],
    "x.max().item()": ["launch", "to_host"],
    "bool(x[0, 0] > 1)": ["launch", "to_host"],
    "f'{x[0, 0]}'": ["to_host"],
    "cp.add(x, 1, out=x)": ["launch"],
    "np.sqrt(x)": ["launch"],
    "cp.linalg.norm(x)": ["launch"],
    "cp.fuse(lambda a: a * a + 1)(x)": ["launch"],
    "x.shape, x.dtype, len(x)": [],
}


@pytest.mark.parametrize("code", LOGS)
def test_what_is_asked_for(code: str) -> None:
    cp = Cupy()
    eval(code, {"cp": cp, "np": np, "host": X, "x": cp.put(X)})
    assert [step.kind for step in cp.gpu.log] == LOGS[code]


@pytest.mark.parametrize("code", ["x + host", "cp.sum(host)", "np.asarray(x)", "host += x"])
def test_the_two_sides_do_not_mix(code: str) -> None:
    cp = Cupy()
    with pytest.raises(TypeError):
        exec(code, {"cp": cp, "np": np, "host": X.copy(), "x": cp.put(X)})


def test_results_and_dtypes_are_numpy_s() -> None:
    cp = Cupy()
    x = cp.put(X)
    for result, right in (
        (x.mean(axis=0), X.mean(axis=0)),
        (x / x.max(), X / X.max()),
        (cp.where(x > 2, x, 0), np.where(X > 2, X, 0)),
        (cp.concatenate([x, x]), np.concatenate([X, X])),
    ):
        assert difference(result, cp.put(right)) == ""


def test_memory_is_given_back_with_the_last_name() -> None:
    cp = Cupy(limit=2 * X.nbytes)
    a = cp.asarray(X)
    view = a[0]
    with pytest.raises(MemoryError, match="limit set to: 48"):
        cp.concatenate([a, a])
    del a
    assert cp.used == X.nbytes
    del view
    assert (cp.used, cp.most_used) == (0, X.nbytes)


def test_a_method_that_cupy_lacks_is_one_of_its_arrays() -> None:
    with pytest.raises(AttributeError, match=r"'cupy\.ndarray' object has no attribute 'absolute'"):
        Cupy().put(X).absolute()


def test_a_kernel_is_compiled_once_for_each_dtype() -> None:
    cp = Cupy()
    for x in (cp.put(X), cp.put(X), cp.put(X.astype(float))):
        x + x
    assert [step.compiled for step in cp.gpu.log] == [True, False, True]


def copy_and_work(gpu: VirtualGpu, wait: bool) -> None:
    """Copy in one stream, and work on it in another."""
    cp = Cupy(gpu)
    host, x = np.ones(1000, np.float32), cp.put(np.zeros(1000, np.float32))
    gpu.pinned.append(bounds(host))
    copying, working = gpu.stream(), gpu.stream()
    x.set(host, stream=copying)
    if wait:
        working.wait_event(copying.record())
    with working:
        cp.add(x, 1, out=x)
    working.synchronize()


def test_two_streams_on_one_array_need_an_event() -> None:
    copy_and_work(gpu := VirtualGpu(), wait=True)
    in_order(gpu)
    copy_and_work(gpu := VirtualGpu(), wait=False)
    with pytest.raises(RefusedError, match="Nothing makes"):
        in_order(gpu)


def test_streams_overlap_and_one_stream_does_not() -> None:
    costs = Costs(launch_s=1e-6, compile_s=0, wake_s=1e-6)
    for streams, fits in ((2, True), (1, False)):
        gpu = VirtualGpu(costs)
        chosen = [gpu.stream() for _ in range(streams)]
        for k in range(2):
            with chosen[k % streams]:
                gpu.launch(f"kernel {k}", 1e-3)
        gpu.synchronize()
        if fits:
            in_time(gpu, 1e-3)
        else:
            with pytest.raises(RefusedError, match="one stream"):
                in_time(gpu, 1e-3)


def test_a_wait_in_vain_is_named_with_both_kernels() -> None:
    gpu = VirtualGpu(Costs(launch_s=1e-6, compile_s=0, wake_s=1e-6))
    one, two = gpu.stream(), gpu.stream()
    with one:
        gpu.launch("left", 1e-3, writes=((0, 1),))
    two.wait_event(one.record())
    with two:
        gpu.launch("right", 1e-3, writes=((1, 2),))
    gpu.synchronize()
    with pytest.raises(RefusedError, match="right waits for left"):
        in_time(gpu, 1e-3)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("work wait clock work wait clock", ""),
        ("wait clock work wait clock", "compiled"),
        ("work clock work wait clock", "started while"),
        ("work wait clock work clock", "stopped while"),
        ("work wait clock wait clock", "never read"),
    ],
)
def test_what_is_wrong_with_a_clock(order: str, said: str) -> None:
    gpu = VirtualGpu()
    actions = {"work": lambda: gpu.launch("work", 0.04), "wait": gpu.synchronize, "clock": gpu.clock}
    for word in order.split():
        actions[word]()
    if not said:
        clock_mistake(gpu, "work")
        return
    with pytest.raises(RefusedError, match=said):
        clock_mistake(gpu, "work")
