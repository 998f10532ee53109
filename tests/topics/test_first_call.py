"""First calls: what four processes in turn say, and the folder of the kernel cache."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuguide.measure.first_call import FirstCallError
from gpuguide.topics.first_call import fresh, study


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
        report = {"parts": {"imports": len(self.folders) * 1_000_000_000}, "kernels": kernels}
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
