"""Kernel families: what the checks accept and reject, and the lines of each route."""

from __future__ import annotations

import inspect
import json
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.measure.plan import Variant
from gpuguide.topics.kernel_families import accelerators, fresh, kernels
from gpuguide.topics.kernel_families import study as families

PAGE = Path(__file__).parents[2] / "examples" / "fast_kernels" / "kernel_families.py"
ROUTES = (*fresh.ADDITIONS, *(name for _, name in fresh.SUMS))
RNG = np.random.default_rng(5)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """As much of CuPy as adds up, with a core that knows its accelerators."""
    chosen: dict[str, Any] = {"routine": [1], "reduction": [1, 2]}
    calls: dict[str, Any] = {}
    for kind in chosen:
        calls[f"get_{kind}_accelerators"] = partial(chosen.get, kind)
        calls[f"set_{kind}_accelerators"] = partial(chosen.__setitem__, kind)
    core = SimpleNamespace(chosen=chosen, **calls)
    fake = SimpleNamespace(_core=core, add=np.add, cumsum=np.cumsum, einsum=np.einsum)
    for module in (families, accelerators):
        monkeypatch.setattr(module, "cp", fake)
    return core


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("n", [0, 1, 2, 33, 1009])
def test_additions_in_pairs_add_every_pair(n: int) -> None:
    """Where the last number of an odd length stands alone, too."""
    a, b = (x.astype(np.float32) for x in RNG.integers(-99, 99, (2, n)))
    out = np.full(n, np.nan, np.float32)
    families.add_pairs(a, b, out)
    assert out.tolist() == (a + b).tolist()


def test_accelerators_are_put_back_whatever_happens(core: SimpleNamespace) -> None:
    def fail() -> None:
        assert core.chosen == {"routine": ("cub",), "reduction": ("cub",)}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        accelerators.using(("cub",), fail)
    assert core.chosen == {"routine": [1], "reduction": [1, 2]}


@pytest.mark.parametrize("exact", [True, False])
def test_wrong_sums_are_rejected(exact: bool) -> None:
    """A single number cannot be shifted; one element that is left out shows where sums are exact."""
    judge = families.TotalCheck()
    (x,) = families.total.make_inputs(20_000, exact=exact)
    right, tolerance = prepared = judge.prepare((x,))
    assert tolerance == (0.0 if exact else 1e-5 * right)
    assert judge.compare(x.sum(keepdims=True), prepared)[0] <= tolerance
    wrongs = [right - 1, right + 1] if exact else [1.00003 * right, right / 2, 0]
    for wrong in map(np.float32, (*wrongs, np.nan)):
        assert not judge.compare(np.full(1, wrong), prepared)[0] <= tolerance
    with pytest.raises(MismatchError, match=r"should be a single number; it has shape \(2,\)"):
        judge.compare(np.ones(2, np.float32), prepared)
    assert judge.prepare((x[:0],)) == (0.0, 0.0)


def test_cumulative_sums_are_judged_by_their_steps() -> None:
    judge = accelerators.CumulativeCheck()
    x = RNG.integers(0, 1000, 1009)
    for inputs in (x, x[:1], x[:0]):
        assert judge.compare(np.cumsum(inputs), judge.prepare((inputs,))) == (0.0, 0.0)
    wrong = np.cumsum(x)
    wrong[500:] += 1
    with pytest.raises(MismatchError, match="1 sums do not follow from the one before, the first at 500"):
        judge.compare(wrong, judge.prepare((x,)))


@pytest.mark.usefixtures("core")
def test_contractions_are_those_of_the_reference() -> None:
    a, b = accelerators.contraction.make_inputs(5, exact=True)
    assert (accelerators.contracted(a, b) == accelerators.contraction_reference(a, b)).all()


@needs_compilers()
@pytest.mark.parametrize(
    ("source", "name", "loads"),
    [
        (kernels.add_source, "add_single", {"ld.global.f32": 2}),
        (kernels.add_source, "add_quads", {"ld.global.v4.f32": 2}),
        (kernels.sum_source, "sum_quads", {"ld.global.v4.f32": 4}),
    ],
)
def test_kernels_in_cuda_load_as_much_at_once_as_the_page_says(
    source: str, name: str, loads: dict[str, int]
) -> None:
    facts = raw_facts(source, name)
    assert facts.spills == 0
    # As many threads as a multiprocessor holds, 2048, share 65 536 registers.
    assert facts.registers <= 32
    for load, count in loads.items():
        assert facts.count(load) >= count


def written(code: str) -> int:
    """How many lines of code there are, without docstrings and empty lines."""
    code = re.sub(r'"""[^"]*"""', "", code)
    return sum(bool(line.strip()) for line in code.splitlines())


def c_function(source: str, name: str) -> str:
    found = re.search(rf'^extern "C" [^\n]*{name}\(.*?^}}', source, re.M | re.S)
    assert found
    return found[0]


def test_the_table_counts_the_lines_that_one_writes() -> None:
    """Those of the definition, and one for each call, compilation or launch."""
    numba_four = written(inspect.getsource(kernels.add_four.py_func))
    numba_sum = written(inspect.getsource(kernels.sum_blocks.py_func))
    lines = {
        "add_ufunc": 1,
        "add_fused": 3 + 1,
        "add_elementwise": 1 + 1,
        "add_jit": 5 + 1,
        "add_numba_ufunc": 3 + 1,
        "add_quads": written(c_function(kernels.add_source, "add_quads")) + 2,
        "add_four": numba_four + 1,
        "sum_cupy": 1,
        "sum_reduction": 1 + 1,
        "sum_quads": written(kernels.sum_source) + 4,
        "sum_blocks": numba_sum + 2,
    }
    rows = re.findall(r"  - (\d+)\n#      - :measured:`first_(\w+)`", PAGE.read_text(encoding="utf-8"))
    assert {name: int(count) for count, name in rows} == lines
    assert {*lines} == {*ROUTES} - {"reduction_without"}


def test_first_calls_are_read_from_what_the_process_prints(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And what it compiled is kept for this process."""
    printed = "something\n" + json.dumps({"add_ufunc": 0.1}) + '\n{"ns": 123}\n'
    done = SimpleNamespace(stdout=printed)

    def compile_one(command: list[str], env: dict[str, str], **options: Any) -> SimpleNamespace:
        folder = Path(env["CUPY_CACHE_DIR"])
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath("one.cubin").write_bytes(b"compiled")
        return done

    monkeypatch.setattr(fresh.subprocess, "run", compile_one)
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cache"))
    assert fresh.measure_first_calls() == {"add_ufunc": 0.1}
    assert (tmp_path / "cache" / "one.cubin").read_bytes() == b"compiled"
    monkeypatch.delenv("CUPY_CACHE_DIR")
    assert fresh.kernel_cache() == Path.home() / ".cupy" / "kernel_cache"


@pytest.mark.gpu
def test_first_calls_of_all_routes_are_timed() -> None:
    assert set(fresh.measure_first_calls()) == {*ROUTES}


def test_each_first_call_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NumPy in CuPy's place."""
    from gpuguide_docs.commands import cupy_by_numpy as cp

    def add(a: Any, b: Any, out: Any) -> None:
        out[...] = a + b

    monkeypatch.setattr(fresh, "cp", cp)
    right, b = np.arange(1, fresh.LENGTH + 1), cp.ones(fresh.LENGTH, np.float32)
    a = cp.arange(fresh.LENGTH, dtype=np.float32)
    assert fresh.first_call(Variant("add", add), right, a, b) > 0
    total = Variant("total", lambda x: x.sum(keepdims=True), allocates=True)
    assert fresh.first_call(total, np.array([fresh.LENGTH]), b) > 0
    with pytest.raises(MismatchError, match="The first call of add gave"):
        fresh.first_call(Variant("add", add), right, a, a)
