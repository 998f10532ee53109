"""The stand-in for CuPy: it behaves as CuPy does, and notes each launch and copy."""

import copy

import numpy as np
import pytest
from device_behaviour import BEHAVIOUR

from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.machine.backends import cupy


@pytest.fixture
def cp():
    return FakeCupy()


@pytest.mark.parametrize("check", BEHAVIOUR, ids=lambda check: check.__name__)
def test_the_stand_in_behaves_so(check, cp):
    check(cp)


@pytest.mark.gpu
@pytest.mark.parametrize("check", BEHAVIOUR, ids=lambda check: check.__name__)
def test_the_real_cupy_behaves_so(check):
    check(cupy())


@pytest.mark.gpu
def test_the_real_cupy_has_every_name_of_the_stand_in(cp):
    real = cupy()
    own = {
        "gpu",
        "holds_unset",
        "index",
        "note_copy_to_device",
        "note_launch",
        "run",
        "run_ufunc",
        "send",
        "to_host",
        "unwrap",
        "wrap",
    }
    assert {name for name in dir(cp) if not hasattr(real, name)} <= own
    methods = {name for name in dir(cp.ndarray) if not name.startswith("_")}
    assert methods <= set(dir(real.ndarray))
    assert [name for name in names_of(np) if hasattr(cp, name) and not hasattr(real, name)] == []
    of_algebra = [name for name in names_of(np.linalg) if hasattr(cp.linalg, name)]
    assert [name for name in of_algebra if not hasattr(real.linalg, name)] == []


def test_the_stand_in_lacks_what_cupy_lacks(cp):
    for name in ("vecdot", "unstack", "geomspace", "nanquantile"):
        assert hasattr(np, name)
        assert not hasattr(cp, name)
    assert hasattr(cp.linalg, "norm")
    assert not hasattr(cp.linalg, "vector_norm")


def names_of(module):
    return [name for name in dir(module) if not name.startswith("_") and callable(getattr(module, name))]


def counts(cp):
    """Copies there, copies back, and launches so far."""
    return tuple(len(cp.gpu.events(kind)) for kind in ("to_device", "to_host", "launch"))


HOST = np.arange(1.0, 7.0)

# What is done with an array of six float64 on the device; copies there, copies back, launches.
COUNTED = {
    "an operator": (lambda cp, x: x + 1, (0, 0, 1)),
    "a result given by its place": (lambda cp, x: cp.add(x, 1, cp.empty(6)), (0, 0, 1)),
    "a ufunc that reduces": (lambda cp, x: cp.add.reduce(x), (0, 0, 1)),
    "an operator in place": (lambda cp, x: x.__iadd__(1), (0, 0, 1)),
    "three operators": (lambda cp, x: (x - 1) * (x - 1), (0, 0, 3)),
    "a reduction": (lambda cp, x: x.sum(), (0, 0, 1)),
    "a function of NumPy": (lambda cp, x: np.sqrt(x), (0, 0, 1)),
    "float()": (lambda cp, x: float(x[0]), (0, 1, 0)),
    "float() of a sum": (lambda cp, x: float(x.sum()), (0, 1, 1)),
    "bool()": (lambda cp, x: bool(x[0] > 0), (0, 1, 1)),
    "item()": (lambda cp, x: x[1].item(), (0, 1, 0)),
    "tolist()": (lambda cp, x: x.tolist(), (0, 1, 0)),
    "str()": (lambda cp, x: str(x), (0, 1, 0)),
    "format()": (lambda cp, x: f"{x[0]:.1f}", (0, 1, 0)),
    "get()": (lambda cp, x: x.get(), (0, 1, 0)),
    "asnumpy()": (lambda cp, x: cp.asnumpy(x), (0, 1, 0)),
    "max() of Python": (lambda cp, x: max(x), (0, 5, 5)),
    "sum() of Python": (lambda cp, x: sum(x), (0, 0, 6)),
    "iteration": (lambda cp, x: list(x), (0, 0, 0)),
    "a slice": (lambda cp, x: x[1:3], (0, 0, 0)),
    "a new axis": (lambda cp, x: x[:, None], (0, 0, 0)),
    "a reshape": (lambda cp, x: x.reshape(2, 3).T, (0, 0, 0)),
    "a shape": (lambda cp, x: (x.shape, x.size, len(x), x.dtype), (0, 0, 0)),
    "an assignment": (lambda cp, x: x.__setitem__(0, 3), (0, 0, 1)),
    "picking by a list": (lambda cp, x: x[[0, 2]], (1, 0, 1)),
    "picking by a mask": (lambda cp, x: x[x > 2], (0, 1, 2)),
    "picking by indices on the device": (lambda cp, x: x[cp.argsort(x)], (0, 0, 2)),
    "asarray of what is there": (lambda cp, x: cp.asarray(x), (0, 0, 0)),
    "asarray of an array of NumPy": (lambda cp, x: cp.asarray(HOST), (1, 0, 0)),
    "asarray of a list": (lambda cp, x: cp.asarray([1, 2]), (1, 0, 0)),
    "asarray of a number": (lambda cp, x: cp.asarray(2.5), (0, 0, 1)),
    "asarray of nothing": (lambda cp, x: cp.asarray(HOST[:0]), (0, 0, 0)),
    "get() of nothing": (lambda cp, x: x[:0].get(), (0, 0, 0)),
    "arithmetic of nothing": (lambda cp, x: (x[:0] + 1).reshape(0, 1), (0, 0, 0)),
    "a sum of nothing": (lambda cp, x: x[:0].sum(), (0, 0, 1)),
    "set()": (lambda cp, x: x.set(HOST), (1, 0, 0)),
    "empty_like": (lambda cp, x: cp.empty_like(x), (0, 0, 0)),
    "zeros": (lambda cp, x: cp.zeros(3), (0, 0, 0)),
    "ones": (lambda cp, x: cp.ones(3), (0, 0, 1)),
    "an array of arrays": (lambda cp, x: cp.array([x, x]), (0, 0, 1)),
    "astype": (lambda cp, x: x.astype(cp.float32), (0, 0, 1)),
    "astype to the same": (lambda cp, x: cp.asarray(x, dtype=cp.float64), (0, 0, 0)),
    "einsum": (lambda cp, x: cp.einsum("i,i->", x, x), (0, 0, 1)),
    "a fused function": (lambda cp, x: cp.fuse(kernel_name="f")(lambda a, b: (a - b) ** 2)(x, x), (0, 0, 1)),
    "split": (lambda cp, x: cp.split(x, [2])[1] + 1, (0, 0, 1)),
    "windows": (lambda cp, x: cp.lib.stride_tricks.sliding_window_view(x, 3).sum(axis=1), (0, 0, 1)),
    "other strides": (lambda cp, x: cp.lib.stride_tricks.as_strided(x, (2, 2), (16, 8)), (0, 0, 0)),
    "any function of NumPy's": (lambda cp, x: cp.nan_to_num(x), (0, 0, 1)),
    "any ufunc of NumPy's": (lambda cp, x: cp.copysign(cp.fabs(x), -1), (0, 0, 2)),
    "one of several arrays": (lambda cp, x: cp.dstack([x, x]), (0, 0, 1)),
    "one with several results": (lambda cp, x: cp.modf(x), (0, 0, 2)),
    "one that makes views": (lambda cp, x: cp.atleast_2d(x) + 1, (0, 0, 1)),
    "an array like another, of another shape": (lambda cp, x: cp.ones_like(x, shape=(2, 3))[1, 2], (0, 0, 1)),
    "joining by an index": (lambda cp, x: cp.r_[x, x] + cp.c_[x, x].ravel(), (0, 0, 3)),
    "one that writes": (lambda cp, x: cp.putmask(x, x > 2, x), (0, 0, 2)),
    "one of linear algebra": (lambda cp, x: cp.linalg.norm(x), (0, 0, 1)),
    "one that looks at the shape": (lambda cp, x: 1 / cp.size(x), (0, 0, 0)),
    "one that asks how many": (lambda cp, x: cp.nonzero(x), (0, 1, 1)),
    "copy.copy": (lambda cp, x: copy.copy(x), (1, 1, 0)),
    "copy.deepcopy": (lambda cp, x: copy.deepcopy(x), (0, 0, 1)),
    "a sum of the host's": (lambda cp, x: cp.sum(HOST), (0, 0, 0)),
}


@pytest.mark.parametrize("title", COUNTED)
def test_copies_and_launches_are_counted(title, cp):
    do, expected = COUNTED[title]
    x = cp.asarray(HOST)
    cp.gpu.log.clear()
    do(cp, x)
    assert counts(cp) == expected


def test_bytes_are_counted(cp):
    x = cp.asarray(HOST)
    y = x * x + x
    y.get()
    there, back = cp.gpu.events("to_device", "to_host")
    assert there.nbytes == back.nbytes == HOST.nbytes
    # Read and written by each launch; x * x reads one buffer, through two operands.
    assert [event.nbytes for event in cp.gpu.events("launch")] == [3 * HOST.nbytes] * 2


def test_temporaries_are_counted(cp):
    x = cp.asarray(HOST)
    before = cp.n_allocations, cp.bytes_allocated
    (x - 1) * (x + 1)
    assert cp.n_allocations - before[0] == 3
    assert cp.bytes_allocated - before[1] == 3 * HOST.nbytes
    x -= 1
    assert cp.n_allocations - before[0] == 3


def test_work_in_place_needs_no_memory_and_is_seen_through_views(cp):
    x = cp.asarray(HOST)
    first_half = x[:3]
    first_half *= 10
    np.testing.assert_array_equal(x.get(), [10, 20, 30, 4, 5, 6])


def test_a_kernel_is_compiled_once_for_each_dtype(cp):
    x, y = cp.ones(3), cp.ones(3, dtype=cp.float32)
    cp.gpu.log.clear()
    for operand in (x, y, x, y):
        operand + operand
    assert [event.compiled for event in cp.gpu.events("launch")] == [True, True, False, False]


def test_empty_memory_is_never_right_by_chance(cp):
    contents = cp.empty(3).get()
    assert not (contents == 0).any()
    assert not (contents == 1).any()


def test_a_copy_to_the_host_waits_for_the_work(cp):
    x = cp.asarray(HOST)
    y = x * 2
    work = cp.gpu.log[-1]
    y.get()
    assert cp.gpu.now_ns > work.done_ns


def test_what_it_lacks_is_named(cp):
    with pytest.raises(AttributeError, match="'fft'"):
        cp.fft  # noqa: B018


def test_a_mistyped_name_gets_the_nearest(cp):
    with pytest.raises(AttributeError, match=r"no 'clp'. Did you mean 'clip'\?"):
        cp.clp  # noqa: B018


def test_other_functions_refuse_arrays_of_the_host(cp):
    for call in (
        lambda: cp.copysign(HOST, cp.ones(6)),
        lambda: cp.nan_to_num(HOST),
        lambda: cp.linalg.norm(HOST),
    ):
        with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy.ndarray'>"):
            call()


def test_only_sums_and_products_are_reduced_to(cp):
    with pytest.raises(NotImplementedError, match="not supported yet"):
        cp.maximum.reduce(cp.ones(3))


def test_something_else_may_arrive_than_was_sent(cp):
    cp.arriving = lambda contents: -contents
    x = cp.empty(6)
    x.set(HOST)
    for device in (x, cp.asarray(HOST), cp.asanyarray(HOST.tolist())):
        np.testing.assert_array_equal(device.get(), -HOST)


def test_something_else_may_come_back_than_was_fetched(cp):
    cp.returning = lambda contents: -contents
    out = np.empty_like(HOST)
    cp.asarray(HOST).get(out=out)
    np.testing.assert_array_equal(out, -HOST)
    assert float(cp.asarray(HOST).sum()) == -HOST.sum()
    assert (cp.fetched[0] == HOST).all()


def test_messages_speak_of_cupy(cp):
    for call in (lambda: cp.stack(), lambda: cp.ones(number=1)):
        with pytest.raises(TypeError, match=r"^cp\.(stack|ones)\(\) "):
            call()


def test_a_view_of_other_strides_stays_in_its_memory(cp):
    with pytest.raises(ValueError, match="beyond the memory"):
        cp.lib.stride_tricks.as_strided(cp.ones(3), (2, 2), (16, 8))


def test_a_fused_function_cannot_copy(cp):
    with pytest.raises(TypeError, match="on the GPU alone"):
        cp.fuse(kernel_name="f")(lambda a: float(a))(cp.ones(()))
    assert float(cp.ones(())) == 1


def test_modules_know_nothing_of_each_other():
    first, second = FakeCupy(), FakeCupy()
    first.ones(3)
    assert not second.gpu.log
    assert first.ndarray is not second.ndarray


# What is done with new memory of `cp.empty`, and whether a kernel reads what was never set.
UNSET = {
    "it is set before": (lambda cp, x: (x.fill(1), cp.convolve(x, x)), False),
    "nothing is done": (lambda cp, x: x.reshape(2, 3).ravel(), False),
    "another array is written": (lambda cp, x: cp.add(cp.ones(6, x.dtype), 1, out=x), False),
    "another array is written by its place": (lambda cp, x: cp.add(cp.ones(6, x.dtype), 1, x), False),
    "a part of it is set": (lambda cp, x: (x[:3].fill(1), x[:3] + 1), False),
    "it is added to": (lambda cp, x: x.__iadd__(1), True),
    "a part of it is missing": (
        lambda cp, x: (x[:3].fill(1), cp.convolve(x.reshape(2, 3).ravel(), x[:3])),
        True,
    ),
    "it is joined": (lambda cp, x: cp.concatenate([x, x]), True),
    "it is stored": (lambda cp, x: cp.zeros(6).__setitem__(slice(None), x), True),
    "it is rolled": (lambda cp, x: cp.roll(x, 1), True),
}


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize("title", UNSET)
def test_reading_what_was_never_set_is_noted(title, dtype):
    do, expected = UNSET[title]
    cp = FakeCupy(VirtualGpu(source=__file__))
    do(cp, cp.empty(6, dtype))
    assert (cp.unset_read_at is not None) == expected


def test_a_sum_in_memory_that_was_never_set_is_never_right(cp):
    for dtype in (np.float32, np.float64, np.complex64, np.int32, np.int64):
        total = cp.empty(3, dtype)
        total *= 2
        total += 1
        assert not (total.get() == 1).any()


def test_pinned_memory_may_be_larger_than_was_asked_for():
    memory = FakeCupy().cuda.alloc_pinned_memory(600)
    assert len(np.frombuffer(memory, np.float32)) == 256
    out = np.frombuffer(memory, np.float32, 150)
    out[:] = 1
    assert out.sum() == 150


def test_an_array_knows_its_device():
    cp = FakeCupy()
    x = cp.ones(3)
    x.device.synchronize()
    assert (x.device.id, cp.gpu.log[-1].kind) == (0, "synchronize")
