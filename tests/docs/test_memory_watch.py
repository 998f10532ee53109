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

    def __init__(self, used: int = 0) -> None:
        self.used = used
        self.while_reading = lambda: None

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetMemoryInfo(self, handle):
        used = self.used
        self.while_reading()
        return SimpleNamespace(used=used)


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


def test_a_reading_that_outlasts_the_page_is_dropped(gpu, tmp_path):
    """The page may end, and the sentinel begin, while NVML answers."""
    path = tmp_path / "peak"
    watch = MemoryWatch(path)
    page = watched(path)
    page.__enter__()
    gpu.used, gpu.while_reading = 9 * GIB, lambda: page.__exit__(None, None, None)
    watch.look()
    assert not path.exists()


def test_a_page_that_raises_closes_the_window(gpu, tmp_path):
    path = tmp_path / "peak"
    watch = MemoryWatch(path)
    with pytest.raises(ZeroDivisionError), watched(path):
        raise ZeroDivisionError
    gpu.used = GIB
    watch.look()
    assert not path.exists()


def test_what_a_page_that_was_killed_left_behind_counts_for_none(gpu, tmp_path):
    path = tmp_path / "peak"
    MemoryWatch(path)
    watched(path).__enter__()
    path.write_text("7")
    watch = MemoryWatch(path)
    gpu.used = GIB
    watch.look()
    assert not path.exists()


def test_without_nvml_nothing_is_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(backends, "nvml", lambda: None)
    watch = MemoryWatch(tmp_path / "peak")
    with watched(tmp_path / "peak"):
        watch.look()
    assert not (tmp_path / "peak").exists()
    with watched(None):
        assert list(tmp_path.iterdir()) == []


class Pool:
    """CuPy's pool, whose free blocks stay in use for the driver until they are given back."""

    def __init__(self, gpu: FakeNvml) -> None:
        self.gpu = gpu

    def free_all_blocks(self) -> None:
        self.gpu.used = 0


def test_the_sentinel_gives_its_memory_back(gpu, monkeypatch):
    def copy_sentinel(clock):
        gpu.used = 2 * GIB
        return 4e12

    monkeypatch.setattr(ceilings, "copy_sentinel", copy_sentinel)
    space = SimpleNamespace(xp=SimpleNamespace(get_default_memory_pool=lambda: Pool(gpu)))
    machine = SimpleNamespace(gpu=object(), spaces={"device": space})
    assert record_page._sentinel(SimpleNamespace(machine=machine), object()) == 4e12
    assert gpu.used == 0


@pytest.mark.parametrize(("seen", "pool", "expected"), [(None, 0, None), (5, 3, 5), (None, 3, 3), (2, 3, 3)])
def test_a_study_too_short_for_the_watch_counts_with_its_pool(tmp_path, seen, pool, expected):
    path = tmp_path / "peak"
    if seen is not None:
        path.write_text(str(seen))
    assert record_page._peak(path, SimpleNamespace(peak_memory_bytes=pool)) == expected
    assert record_page._peak(None, SimpleNamespace(peak_memory_bytes=pool)) == (pool or None)


def test_the_window_is_open_for_the_cells_alone(project):
    """The sentinels run before and after; the cells between them."""
    ran = project.run("-c", WATCH)
    assert ran.code == 0, ran.output
    assert ran.output.split() == ["closed", "open", "closed"]


WATCH = """
import sys
from pathlib import Path
from gpuguide_docs.record import page_run as record_page

peak = Path("peak").resolve()
window = peak.with_name("peak.window")
tell = lambda: print("open" if window.exists() else "closed")
record_page._sentinel = lambda session, ceilings: tell()
record_page.PageRun.run = lambda self, cells: tell()
record_page.named_results = lambda *of: {}
sys.exit(record_page.main(["--page", "toy", "--root", ".", "--machine", "none", "--quick", "--budget", "9",
                           "--outcome", "outcome.json", "--peak", str(peak)]))
"""
