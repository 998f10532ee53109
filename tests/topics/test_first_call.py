"""First calls: what a fresh process prints, what four of them in turn say, and where a kernel comes from."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fake_clock import FakeHost
from gpuguide.errors import ArgumentError
from gpuguide.measure.first_call import FirstCallError
from gpuguide.topics.first_call import fresh, study

SECOND = 1_000_000_000


class OnDevice(np.ndarray):
    """As much of a CuPy array as a fresh process needs."""

    def get(self) -> np.ndarray:
        return np.array(self)


class FakeCupy:
    """A CuPy whose parts take whole seconds, and ten more for each kernel that it compiles into a folder."""

    def __init__(self, host: FakeHost, cache: Path) -> None:
        self.host, self.cache = host, cache
        self.determinant = 1.0
        self.cuda = SimpleNamespace(
            runtime=SimpleNamespace(free=lambda pointer: self.takes(2)),
            Device=lambda: SimpleNamespace(synchronize=lambda: None),
            device=SimpleNamespace(get_cusolver_handle=lambda: self.takes(5)),
        )
        self.linalg = SimpleNamespace(det=self.det)

    def takes(self, seconds: int, *kernels: str) -> None:
        new = [name for name in kernels if not (self.cache / name).exists()]
        for name in new:
            self.cache.mkdir(exist_ok=True)
            (self.cache / name).touch()
        self.host.advance((seconds + 10 * len(new)) * SECOND)

    def asarray(self, a: np.ndarray) -> OnDevice:
        self.takes(3)
        return a.copy().view(OnDevice)

    def square(self, x: OnDevice) -> OnDevice:
        self.takes(4, "square.cubin")
        return (x * x).view(OnDevice)

    def det(self, x: OnDevice) -> Any:
        self.takes(6, "lu.cubin", "sum.cubin")
        return self.determinant * np.linalg.det(np.array(x, np.float64))


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeCupy]:
    """Make a process in which nothing was called yet."""

    def make(folder: str = "cache") -> FakeCupy:
        host = FakeHost()
        cp = FakeCupy(host, tmp_path / folder)

        def loaded() -> FakeCupy:
            cp.takes(1)
            return cp

        monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / folder))
        monkeypatch.setattr(fresh, "SystemClock", lambda: host)
        monkeypatch.setattr(fresh, "cupy", loaded)
        return cp

    return make


def test_each_part_is_what_was_done_in_it(
    process: Callable[..., FakeCupy], capsys: pytest.CaptureFixture[str]
) -> None:
    """With an empty cache, and with the one that the first process filled."""
    printed = []
    for _ in range(2):
        process()
        fresh.first_calls()
        printed.append(json.loads(capsys.readouterr().out))
    empty, filled = ({name: ns / SECOND for name, ns in each["parts"].items()} for each in printed)
    names = ("imports", "context", "copy", "ufunc", "ufunc_again", "library")
    assert [empty[name] for name in names] == [1, 2, 3, 14, 4, 5]
    assert [filled[name] for name in names] == [1, 2, 3, 4, 4, 5]
    assert [empty[name] for name in fresh.DETERMINANTS] == [26, 6, 6, 6, 6]
    assert empty["whole"] == 1 + 2 + 3 + 14 + 4 + 5 + 26
    assert [each["kernels"] for each in printed] == [{"ufunc": 1, "all": 3}, {"ufunc": 3, "all": 3}]


def test_a_wrong_determinant_is_an_error(process: Callable[..., FakeCupy]) -> None:
    process().determinant = 1.02
    with pytest.raises(ArgumentError, match="The determinant is"):
        fresh.first_calls()


def test_the_determinant_is_a_number_that_float32_holds() -> None:
    largest = float(np.finfo(np.float32).max)
    assert 1 / largest < abs(float(np.linalg.det(fresh.matrix().astype(np.float64)))) < largest


class Processes:
    """Instead of real ones: each prints its parts, and what it finds and leaves in its cache."""

    def __init__(self, compiles: tuple[str, ...] = ()) -> None:
        self.compiles = compiles
        self.folders: list[str] = []
        self.accelerators: list[str | None] = []

    def __call__(self, command: list[str], env: dict[str, str], **_: Any) -> Any:
        cache = Path(env["CUPY_CACHE_DIR"])
        self.folders.append(cache.name)
        self.accelerators.append(env.get("CUPY_ACCELERATORS"))
        was_there = cache.is_dir()
        cache.mkdir(exist_ok=True)
        for name in ("square", "lu", *((f"again_{len(self.folders)}",) if was_there else ())):
            if not was_there or cache.name in self.compiles:
                (cache / name).touch()
        n = len(list(cache.iterdir()))
        kernels = {"ufunc": 2 if was_there else n - 1, "all": n}
        report = {"parts": {"imports": len(self.folders) * SECOND}, "kernels": kernels}
        out = f"{json.dumps(report)}\n{json.dumps({'ns': 1})}\n"
        return SimpleNamespace(returncode=0, stdout=out)


def test_four_processes_make_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty, filled, a copy of what is filled, and empty without CUB."""
    monkeypatch.delenv("CUPY_ACCELERATORS", raising=False)
    processes = Processes()
    monkeypatch.setattr(fresh.subprocess, "run", processes)
    taken, kernels = fresh.measure_first_calls(n_turns=2)
    assert processes.folders == ["cupy_cache_dir", "cupy_cache_dir", "image", "other"] * 2
    assert processes.accelerators == [None, None, None, ""] * 2
    assert taken == {
        "empty_imports": [1, 5],
        "filled_imports": [2, 6],
        "copied_imports": [3, 7],
        "plain_imports": [4, 8],
    }
    assert kernels == {"ufunc": 1, "empty": 2, "filled": 2, "copied": 2, "plain": 2}


@pytest.mark.parametrize(("folder", "name"), [("cupy_cache_dir", "filled"), ("image", "copied")])
def test_a_cache_that_does_not_help_is_an_error(
    folder: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh.subprocess, "run", Processes(compiles=(folder,)))
    with pytest.raises(FirstCallError, match=f"With a {name} cache nothing should be compiled"):
        fresh.measure_first_calls()


# A kernel, by where its code comes from ---------------------------------------------------------------------


class FakeKernels:
    """A CuPy that makes elementwise kernels, and notes their code and where it would be kept."""

    def __init__(self) -> None:
        self.codes: list[str] = []
        self.folders: list[str | None] = []
        self.n_forgotten = 0

    def asarray(self, x: Any) -> Any:
        return x

    def clear_memo(self) -> None:
        self.n_forgotten += 1

    def ElementwiseKernel(self, inputs: str, outputs: str, code: str, name: str) -> Any:
        self.codes.append(code)

        def call(x: np.ndarray, out: np.ndarray) -> None:
            self.folders.append(os.environ.get("CUPY_CACHE_DIR"))
            out[:] = 2 * x

        return call


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeKernels]:
    fake = FakeKernels()
    monkeypatch.setattr(study, "cp", fake)
    monkeypatch.delenv("CUPY_CACHE_DIR", raising=False)
    study.kernel_in_memory.cache_clear()
    yield fake
    study.kernel_in_memory.cache_clear()


@pytest.mark.parametrize(
    ("call", "n_codes", "n_made"), [(study.compiled, 3, 3), (study.from_disk, 1, 3), (study.in_memory, 1, 1)]
)
def test_all_three_double_and_only_the_first_has_new_code_each_time(
    call: Callable[..., None], n_codes: int, n_made: int, kernels: FakeKernels
) -> None:
    for _ in range(3):
        x, out = np.arange(5, dtype=np.float32), np.full(5, np.nan, np.float32)
        call(x, out)
        assert out.tolist() == [0, 2, 4, 6, 8]
    assert (len(set(kernels.codes)), len(kernels.codes)) == (n_codes, n_made)
    assert kernels.n_forgotten == (3 if call is study.from_disk else 0)
    assert set(kernels.folders) == {None if call is study.in_memory else study.cache_folder()}


@pytest.mark.parametrize("before", [None, "mine"])
def test_the_folder_of_the_cache_is_put_back(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUPY_CACHE_DIR", raising=False)
    if before:
        monkeypatch.setenv("CUPY_CACHE_DIR", before)
    with pytest.raises(KeyError), study.caching_in("elsewhere"):
        raise KeyError(os.environ["CUPY_CACHE_DIR"])
    assert os.environ.get("CUPY_CACHE_DIR") == before


def test_the_folder_is_gone_when_the_process_ends(fresh_python: Callable[..., str]) -> None:
    printed = fresh_python("""
from pathlib import Path
from gpuguide.topics.first_call.study import cache_folder
print(Path(cache_folder()).is_dir(), cache_folder())
""")
    there, folder = printed.split(maxsplit=1)
    assert there == "True"
    assert not Path(folder.strip()).exists()


@pytest.mark.gpu
def test_fresh_processes_on_the_gpu() -> None:
    taken, kernels = fresh.measure_first_calls()
    assert taken["empty_whole"][0] > taken["filled_whole"][0]
    assert kernels["empty"] == kernels["filled"] == kernels["copied"] > kernels["ufunc"] >= 1
