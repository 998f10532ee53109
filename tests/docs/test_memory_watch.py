"""The memory that a page is said to need is what the page held, without the recorder's copy sentinel."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gpuguide.machine import backends
from gpuguide.measure import ceilings
from gpuguide_docs.record import page_run as record_page
from gpuguide_docs.record.memory_watch import MemoryWatch, watched

GIB = 2**30


class FakeNvml:
    """A GPU whose memory holds what a test says."""

    used = 0

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetMemoryInfo(self, handle):
        return SimpleNamespace(used=self.used)


@pytest.fixture
def gpu(monkeypatch):
    library = FakeNvml()
    monkeypatch.setattr(backends, "nvml", lambda: library)
    return library


def test_only_what_the_page_holds_is_counted(gpu, tmp_path):
    path = tmp_path / "peak"
    gpu.used = 1 * GIB  # another program's
    watch = MemoryWatch(path)
    gpu.used = 9 * GIB  # the sentinel, before
    watch.look()
    assert not path.exists()
    with watched(path):
        for gpu.used in (3 * GIB, 4 * GIB, 2 * GIB):
            watch.look()
    gpu.used = 9 * GIB  # the sentinel, after
    watch.look()
    assert int(path.read_text()) == 3 * GIB


def test_a_page_that_raised_or_was_killed_leaves_nothing_to_the_next(gpu, tmp_path):
    path = tmp_path / "peak"
    watch = MemoryWatch(path)
    with pytest.raises(ZeroDivisionError), watched(path):
        raise ZeroDivisionError
    gpu.used = GIB
    watch.look()
    assert not path.exists()
    watched(path).__enter__()
    path.write_text("7")
    MemoryWatch(path).look()
    assert not path.exists()


def test_without_nvml_nothing_is_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(backends, "nvml", lambda: None)
    watch = MemoryWatch(tmp_path / "peak")
    with watched(tmp_path / "peak"), watched(None):
        watch.look()
    assert not (tmp_path / "peak").exists()


def test_the_sentinel_gives_its_memory_back(gpu, monkeypatch):
    """CuPy's pool keeps free blocks, which stay in use for the driver."""

    def copy_sentinel(clock):
        gpu.used = 2 * GIB
        return 4e12

    monkeypatch.setattr(ceilings, "copy_sentinel", copy_sentinel)
    pool = SimpleNamespace(free_all_blocks=lambda: setattr(gpu, "used", 0))
    space = SimpleNamespace(xp=SimpleNamespace(get_default_memory_pool=lambda: pool))
    machine = SimpleNamespace(gpu=object(), spaces={"device": space})
    assert record_page._sentinel(SimpleNamespace(machine=machine), object()) == 4e12
    assert gpu.used == 0


@pytest.mark.parametrize(("seen", "pool", "expected"), [(None, 0, None), (5, 3, 5), (None, 3, 3), (2, 3, 3)])
def test_a_study_too_short_for_the_watch_counts_with_its_pool(tmp_path, seen, pool, expected):
    path = tmp_path / "peak"
    if seen is not None:
        path.write_text(str(seen))
    assert record_page._peak(path, SimpleNamespace(peak_memory_bytes=pool)) == expected
