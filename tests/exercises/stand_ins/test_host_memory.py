"""Host memory that is promised and not yet there, and a blur that meets it."""

import numpy as np
import pytest

from gpuguide.exercises.stand_ins.blurs import VirtualBlur
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.host_memory import FakeNumpy
from gpuguide.exercises.stand_ins.virtual_gpu import Costs, VirtualGpu


@pytest.fixture
def gpu():
    return VirtualGpu(Costs(first_touch_rate=1.0))


def touched(gpu):
    """Bytes that were written for the first time so far."""
    return sum(event.nbytes for event in gpu.log if event.name == "first touch")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda np_: np_.empty(10), 0),
        (lambda np_: np_.zeros((2, 5)), 0),
        (lambda np_: np_.empty_like(np.ones(10)), 0),
        (lambda np_: np_.zeros_like(np.ones(10)), 80),
        (lambda np_: np_.ones(10), 80),
        (lambda np_: np_.full(10, 3.0), 80),
        (lambda np_: np_.empty_like(np.ones(10), shape=(3, 4)), 0),
        (lambda np_: np_.ones_like(np.ones(10)), 80),
        (lambda np_: np_.full_like(np.ones(10), 3.0), 80),
        (lambda np_: np_.arange(10), 80),
        (lambda np_: np_.array(np.ones(10)), 80),
        (lambda np_: np_.asarray(np.ones(10)), 0),
        (lambda np_: np_.ascontiguousarray(np.ones(10)), 0),
        (lambda np_: np_.reshape(np.ones(10), (2, 5)), 0),
        (lambda np_: np_.float32(3), 0),
        (lambda np_: np_.ones(10).copy(), 160),
        (lambda np_: np_.ones_like(np_.ones(10)), 160),
        (lambda np_: np_.clip(np_.ones(10), 0, 1, out=np_.empty(10)), 160),
        (lambda np_: np_.copy(np_.ones(10)), 160),
        (lambda np_: np_.ones(10)[::2].copy(), 120),
        (lambda np_: np_.ones(10).astype("float32"), 120),
        (lambda np_: np_.ones(10).astype(float, copy=False), 80),
        (lambda np_: 0 * np_.ones(10), 160),
        (lambda np_: np_.ones(10).sum(), 80),
    ],
)
def test_only_writing_costs(gpu, make, expected):
    make(FakeNumpy(gpu))
    assert touched(gpu) == expected


WRITES = {
    "an assignment": lambda np_, x: x.__setitem__(slice(None), 1),
    "fill": lambda np_, x: x.fill(1),
    "copyto": lambda np_, x: np_.copyto(x, 1),
    "out of a ufunc": lambda np_, x: np.add(1, 1, out=x),
    "in place": lambda np_, x: x.__iadd__(1),
    "a view by a function": lambda np_, x: np_.ravel(x).__setitem__(slice(None), 1),
    "flat": lambda np_, x: x.flat.__setitem__(slice(None), 1),
    "the whole of flat": lambda np_, x: setattr(x, "flat", 1),
}


@pytest.mark.parametrize("way", WRITES)
def test_each_way_of_writing_touches_once(gpu, way):
    np_ = FakeNumpy(gpu)
    x = np_.empty(10)
    WRITES[way](np_, x)
    WRITES[way](np_, x)
    assert touched(gpu) == 80
    assert not x.is_untouched
    assert type(np.asarray(x) + 1) is np.ndarray


PARTS = {
    "a row": (lambda x: x.__setitem__(0, 1), 4096),
    "an element": (lambda x: x.__setitem__((7, 5), 1), 4096),
    "the first half of the rows": (lambda x: x.__setitem__(slice(4), 1), 4 * 4096),
    "every other row": (lambda x: x[::2].fill(1), 4 * 4096),
    "a column": (lambda x: x.__setitem__((..., 3), 1), 8 * 4096),
    "a view of all": (lambda x: x.reshape(-1).__setitem__(slice(None), 1), 8 * 4096),
    "the other order": (lambda x: x.T.__setitem__(slice(None), 1), 8 * 4096),
    "rows by a list": (lambda x: x.__setitem__([0, 1], 1), 8 * 4096),
    "rows by a range": (lambda x: x.__setitem__((range(2),), 1), 8 * 4096),
    "all by True": (lambda x: x.__setitem__(True, 1), 8 * 4096),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_touches_its_pages(gpu, part):
    """Eight rows, each as long as a page; lists and masks count as everything."""
    write, expected = PARTS[part]
    x = FakeNumpy(gpu).empty((8, 512))
    write(x)
    assert touched(gpu) == expected
    assert x.is_untouched == (expected < 8 * 4096)
    write(x)
    assert touched(gpu) == expected
    x.fill(2)
    assert touched(gpu) == 8 * 4096


def test_reading_does_not_touch(gpu):
    x = FakeNumpy(gpu).zeros(10)
    assert x.sum() == 0
    assert touched(gpu) == 0
    assert float((x + 1)[3]) == 1
    assert touched(gpu) == 80, "of the new array"
    assert x.is_untouched


def test_a_destination_that_was_written_costs_nothing_more(gpu):
    np_, cp = FakeNumpy(gpu), FakeCupy(gpu)
    device, out = cp.ones(10), np_.empty(10)
    device.get(out=out)
    assert touched(gpu) == 80
    device.get(out=out)
    assert touched(gpu) == 80
    cp.asnumpy(device)
    assert touched(gpu) == 160, "a new array is new memory"


@pytest.fixture
def blur(gpu):
    return VirtualBlur(FakeCupy(gpu), np.dtype(float), host_rate=1.0, device_rate=100.0, set_up_ns=5000)


def test_a_blur_on_the_host_starts_threads_once(gpu, blur):
    image, out = np.arange(10.0), np.ones(10)
    times = []
    for _ in range(3):
        start = gpu.now_ns
        blur(image, out)
        times.append(gpu.now_ns - start)
    assert times == [5160, 160, 160]
    assert out[5] == 5


def test_a_blur_on_the_device_only_launches(gpu, blur):
    cp = FakeCupy(gpu)
    image = cp.asarray(np.arange(10.0))
    out = cp.empty_like(image)
    blur(image, out)
    assert gpu.free_at_ns >= gpu.now_ns
    np.testing.assert_array_equal(out.get()[1:-1], np.arange(1.0, 9.0))


def test_a_blur_refuses_two_sides_and_two_shapes(gpu, blur):
    device = FakeCupy(gpu).ones(10)
    for source, out in ((device, np.ones(10)), (np.ones(10), device)):
        with pytest.raises(TypeError, match="Unsupported type"):
            blur(source, out)
    with pytest.raises(RuntimeError, match="shape"):
        blur(np.ones(3), np.ones(4))
