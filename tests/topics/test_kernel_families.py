"""Kernel families: what the checks accept and reject, the lines of each route, and a stand-in for CuPy."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.measure.first_call import FirstCallError
from gpuguide.topics.kernel_families import accelerators, fresh, kernels
from gpuguide.topics.kernel_families import study as families

PAGE = Path(__file__).parents[2] / "examples" / "fast_kernels" / "kernel_families.py"
RNG = np.random.default_rng(5)


class Core:
    """As much of CuPy's core as knows its accelerators."""

    def __init__(self) -> None:
        self.routine: list[Any] = [1]
        self.reduction: list[Any] = [1, 2]

    def get_routine_accelerators(self) -> list[Any]:
        return self.routine

    def get_reduction_accelerators(self) -> list[Any]:
        return self.reduction

    def set_routine_accelerators(self, names: Any) -> None:
        self.routine = list(names)

    def set_reduction_accelerators(self, names: Any) -> None:
        self.reduction = list(names)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Core:
    core = Core()
    fake = SimpleNamespace(
        _core=core,
        add=np.add,
        sum=lambda x: np.asarray(x.sum()),
        cumsum=np.cumsum,
        einsum=np.einsum,
        fuse=lambda function: function,
        ElementwiseKernel=lambda *texts: lambda a, b, out: np.add(a, b, out=out),
        ReductionKernel=lambda *texts: lambda x: np.asarray(x.sum()),
    )
    for module in (families, accelerators):
        monkeypatch.setattr(module, "cupy", lambda: fake)
    for maker in (families.fused_addition, families.elementwise_addition):
        maker.cache_clear()
    families.reduction.cache_clear()
    return core


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("n", [0, 1, 2, 33, 1009])
def test_additions_by_cupy_add_every_pair(n: int) -> None:
    """In pairs, too, where the last number of an odd length stands alone."""
    a, b = (x.astype(np.float32) for x in RNG.integers(-99, 99, (2, n)))
    for call in (families.add_ufunc, families.add_pairs, families.add_elementwise):
        out = np.full(n, np.nan, np.float32)
        call(a, b, out)
        assert out.tolist() == (a + b).tolist()
    assert families.add_fused(a, b).tolist() == (a + b).tolist()


def test_accelerators_are_put_back_whatever_happens(core: Core) -> None:
    def fail() -> None:
        with accelerators.accelerators("cub"):
            assert (core.routine, core.reduction) == (["cub"], ["cub"])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (core.routine, core.reduction) == ([1], [1, 2])


@pytest.mark.usefixtures("core")
def test_sums_by_cupy_are_those_of_the_reference() -> None:
    x = RNG.integers(-1, 2, 1009).astype(np.float32)
    judge = families.TotalCheck()
    prepared = judge.prepare((x,))
    for study in (families.total_study(), accelerators.switched_study()):
        for variant in study.variants:
            if variant.allocates:
                found = variant.call(x)
                assert judge.compare(found, prepared) == (0.0, 0.0), variant.name
                assert study.output_spec(x.size, (x,), variant) == (found.shape, found.dtype)


@pytest.mark.parametrize("exact", [True, False])
def test_wrong_sums_are_rejected(exact: bool) -> None:
    """A single number cannot be shifted; one element that is left out shows where sums are exact."""
    judge = families.TotalCheck()
    (x,) = families.total_study().make_inputs(20_000, exact=exact)
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
    with pytest.raises(MismatchError, match="There should be 1009 sums"):
        judge.compare(wrong[1:], judge.prepare((x,)))


@pytest.mark.usefixtures("core")
def test_contractions_are_those_of_the_reference() -> None:
    a, b = accelerators.contraction_study().make_inputs(5, exact=True)
    found = accelerators.contraction(a, b, ("cub",))
    assert (found == accelerators.contraction_reference(a, b)).all()


def test_cutensor_has_a_variant_only_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for there in (False, True):
        monkeypatch.setattr(accelerators, "has_cutensor", lambda there=there: there)
        assert ("einsum_cutensor" in accelerators.contraction_study().names) is there
    monkeypatch.undo()
    assert accelerators.has_cutensor() in (True, False)


def test_arrays_that_begin_between_16_bytes_are_refused() -> None:
    array = SimpleNamespace(data=SimpleNamespace(ptr=0x7F04))
    with pytest.raises(ArgumentError, match=r"x must be an array that begins at a multiple of 16 bytes; got"):
        families.check_aligned("x", array)
    families.check_aligned("x", SimpleNamespace(data=SimpleNamespace(ptr=0x7F00)))
    for wrong in (np.ones(3), np.ones((2, 3), np.float32), 3.0):
        with pytest.raises(ArgumentError, match=r"must be an? .*array.*; got"):
            families.sum_quads(wrong, np.ones(1, np.float32))
        with pytest.raises(ArgumentError, match=r"must be an? .*array.*; got"):
            families.add_quads(wrong, wrong, wrong)


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
    assert {*lines} == {*fresh.ADDITIONS, *fresh.SUMS} - {"reduction_without"}


def test_first_calls_are_read_from_what_the_process_prints(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And what it compiled is kept for this process."""
    printed = "something\n" + json.dumps({"add_ufunc": 0.1}) + '\n{"ns": 123}\n'
    done = SimpleNamespace(returncode=0, stdout=printed, stderr="")

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
    done.returncode, done.stderr = 1, "no GPU"
    with pytest.raises(FirstCallError, match="exit status 1\nno GPU"):
        fresh.measure_first_calls()


def test_sizes_and_dtypes_are_those_of_the_source() -> None:
    (size,) = families.double_study().sizes
    assert size == 5 * 10**7
    assert families.double_study().dtype == "float64"


def test_a_small_gpu_gets_smaller_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = SimpleNamespace(Device=lambda: SimpleNamespace(mem_info=(10**9, 16 * 10**9)))
    for module in (families, accelerators):
        monkeypatch.setattr(module, "cupy", lambda: SimpleNamespace(cuda=memory))
        monkeypatch.setattr(module, "has_gpu", lambda: True)
    assert families.study().sizes == families.total_study().sizes == (10**6,)
    assert accelerators.cumulative_study().sizes == accelerators.switched_study().sizes == (10**6,)


@pytest.mark.gpu
def test_first_calls_of_all_routes_are_timed() -> None:
    assert set(fresh.measure_first_calls()) == {*fresh.ADDITIONS, *fresh.SUMS}


@pytest.mark.gpu
def test_launchers_refuse_an_array_that_begins_between_16_bytes() -> None:
    import cupy as cp

    x, out = cp.ones(9, np.float32)[1:], cp.empty(1, np.float32)
    with pytest.raises(ArgumentError, match="begins at a multiple of 16 bytes"):
        families.sum_quads(x, out)


def test_each_first_call_is_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With NumPy in CuPy's place; a route that is wrong stops the process."""
    from gpuguide_docs.commands import cupy_by_numpy as cp

    def add(a: Any, b: Any, out: Any) -> None:
        out[...] = a + b

    monkeypatch.setattr(fresh, "cupy", lambda: cp)
    monkeypatch.setattr(fresh, "warm_up", lambda *args: None)
    monkeypatch.setattr(fresh, "ADDITIONS", {"add_ufunc": add})
    monkeypatch.setattr(fresh, "SUMS", {"sum_cupy": lambda x: x.sum(keepdims=True)})
    fresh.first_calls()
    assert set(json.loads(capsys.readouterr().out)) == {"add_ufunc", "sum_cupy"}
    monkeypatch.setattr(fresh, "SUMS", {"sum_cupy": lambda x: x[:1]})
    with pytest.raises(ArgumentError, match="The first call of sum_cupy gave"):
        fresh.first_calls()
    monkeypatch.setattr(fresh, "ADDITIONS", {"add_ufunc": lambda a, b, out: None})
    with pytest.raises(ArgumentError, match="The first call of add_ufunc gave a wrong sum"):
        fresh.first_calls()
