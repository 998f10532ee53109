"""What holds for every study of every topic: right results, refused arrays, compiled kernels."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spoiled import assert_rejects
from topic_sizes import SIZES

from compile_lane import needs_compilers, numba_facts
from gpuguide import topics
from gpuguide.catalogue import _is_outdated, studies, topic_names
from gpuguide.machine.backends import RawKernel
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure import plan
from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study
from gpuguide.recordings.recording import Recording
from gpuguide.recordings.store import load_or_none
from gpuguide.results.records import Measurement
from gpuguide.topics.convolution import study as convolution
from gpuguide.topics.kernel_families import study as kernel_families
from gpuguide.topics.launch_sizes import study as launch_sizes
from gpuguide.topics.several_gpus.all_reduce import sum_of_all
from gpuguide.topics.several_gpus.stencil import heat_reference
from gpuguide.topics.several_gpus.study import areas_reference
from gpuguide.topics.transfers.numbers import numbers

STUDIES = {f"{topic}.{name}": study for topic in topic_names() for name, study in studies(topic).items()}
# None, one, one row, whole blocks, one element too few and too many along each axis.
MATRICES = (0, 1, 31, 32, 33, 16 * 16, 31 * 33, 33 * 37)
BOXES = (0, 1, 2 * 3 * 5, 8**3, 7 * 9 * 11)

# Of studies that do not say it themselves. Primes have a test of their own, with short segments.
SIMULATED = {}
# A handful of the 40 shapes: they are two launchers with other numbers.
CHOSEN = {"launch_sizes.map": ["t32_i1_all", "t64_i4_all", "t64_i1_b2", "t64_i4_b2"]}


def first_numbers(n_bytes: int) -> np.ndarray:
    found: np.ndarray = numbers(np, 0, n_bytes // 8)
    return found


# One that is right, where the study has a check instead of a reference.
RIGHT: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(
        ("several_gpus.integral", "several_gpus.workers"), lambda *inputs: areas_reference(*inputs)[0]
    ),
    "several_gpus.heat": lambda *inputs: heat_reference(*inputs)[0],
    "several_gpus.sums": lambda x: sum_of_all(2, x),
}
SPOILED = {
    "convolution.image": 33**2,
    "convolution.small": 33**2,
    "convolution.large": 33**2,
    "convolution.by_kernel": 5**2,
    "agnostic.contrast": 33**2,
    "compile_cost.compiling": 5 * 6 * 7,
    "compile_cost.primes": 100,
    "grids_2d_3d.box": 5 * 6 * 7,
    "grids_2d_3d.matrix": 16 * 17,
    "how_to_time.qr": 16**2,
    "kernel_families.contraction": 17,
    "know_your_gpu.mixes": 4 * 257,
    "know_your_gpu.reads": 4 * 20_000,
    "launch_overhead.hundred": 16**2,
    "launch_overhead.qr": 16**2,
    **dict.fromkeys((f"linear_algebra.{name}" for name in studies("linear_algebra")), 16**2),
    "maximum_cpu.maximum_cpu": 11**3,
    "numpy_to_cupy.rows": 33**2,
    **dict.fromkeys(("overlap.overlap", "overlap.changes", "overlap.sums"), 33),  # rows of 2048 numbers
    "primes.primes": 1000,
    "segmented_sieve.segmented": 1000,
    "registers.product": 3,
    "sort_search.rows": 33**2,
    "streams.inverses": 17**2,
    "streams.products": 17**2,
    "streams.waits": 2,
    "transfers.convolution": 33**2,
    "transfers.product": 3,
}
ROUNDED = {
    *(
        "agnostic.contrast",
        "benchmark_well.roots",
        "how_to_time.add_one",
        "know_your_gpu.reads",
        "why_gpu.polynomial",
    ),
    *("numba_types.level", "numba_types.wide", "numba_types.counters", "numba_types.scale"),
    *("numpy_to_cupy.cells", "numpy_to_cupy.convolve", "numpy_to_cupy.rows"),
    *("memory_pools.pool", "kernel_families.contraction", "registers.product", "ufuncs.quick"),
    *("ufuncs.kepler", "ufuncs.distance"),
    *(f"convolution.{name}" for name in studies("convolution")),
}
NOT_SPOILED = {
    # A single number cannot be shifted: see the tests of these topics.
    *("data_where_it_is.dot", "segmented_sieve.count", "kernel_families.total"),
    *("kernel_families.switched", "fusion.total"),
    # Random numbers can be shifted, and stay random: see test_random_numbers.
    *("random_numbers.float64", "random_numbers.bits", "random_numbers.float32"),
}


def small(name: str) -> int:
    return SPOILED.get(name, 257)


# Results ----------------------------------------------------------------------------------------------------

_SIMULATE = """
import json
from gpuguide.catalogue import studies
for name, (sizes, variants) in json.loads({wanted!r}).items():
    topic, _, study = name.partition(".")
    try:
        report = studies(topic)[study].check_all(sizes, variants)
        found = len(report), sorted({{result.variant for result in report}})
    except Exception as error:
        found = 0, [repr(error)]
    print(json.dumps([name, *found]))
"""


def simulated(variant: Variant) -> bool:
    on_cpu = not variant.needs_gpu and not variant.why_missing()
    return on_cpu or (variant.simulatable and variant.arrays == "numba")


def test_variants_equal_the_reference_in_the_simulator(fresh_python: Callable[..., str]) -> None:
    """On whole numbers and on random ones, at sizes of no whole warps and blocks."""
    wanted, expected = {}, []
    for name, study in STUDIES.items():
        sizes = SIMULATED.get(name, study.small)
        names = CHOSEN.get(name, [v.name for v in study.variants if simulated(v)])
        if sizes and names and not name.startswith("segmented_sieve."):
            wanted[name] = sizes, names
            expected.append([name, len(sizes) * 2 * len(names), sorted(names)])
    snippet = _SIMULATE.format(wanted=json.dumps(wanted))
    # What is compiled for the CPU is to be right there, not quick.
    printed = fresh_python(snippet, timeout=900, NUMBA_ENABLE_CUDASIM="1", NUMBA_OPT="0")
    assert [json.loads(line) for line in printed.splitlines()] == expected


@pytest.mark.parametrize("name", sorted(set(STUDIES) - NOT_SPOILED))
def test_a_study_rejects_wrong_variants(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that writes nothing, one element off, shifted by one, and twice the tolerance."""
    monkeypatch.setattr(convolution, "EDGE", 64)  # of by_kernel's image, whatever the size of the study
    right = RIGHT.get(name, STUDIES[name].answer or STUDIES[name].reference)
    assert right is not None
    assert_rejects(STUDIES[name], right, small(name), tolerance=name in ROUNDED)


# Launches ---------------------------------------------------------------------------------------------------


@cache
def recorded(topic: str) -> Recording | None:
    """What was recorded of a topic, unless its code has changed since."""
    recording = load_or_none(topic)
    return None if recording is None or _is_outdated(recording) else recording


def recorded_cells(name: str) -> Iterator[Measurement]:
    """What was recorded of a study."""
    topic, _, study = name.partition(".")
    recording = recorded(topic)
    if recording is not None and study in recording.studies:
        yield from recording.studies[study].measurements


@pytest.mark.parametrize("name", STUDIES)
def test_declared_work_is_counted_exactly_and_as_it_was_recorded(name: str) -> None:
    """At sizes of at most a million, for a count may take long."""
    study = STUDIES[name]
    dtype = np.dtype(study.dtype)
    for variant in study.variants:
        # Twice, for a count must not depend on what was counted before.
        once, again = (variant.counted(study.sizes[0], dtype, EXAMPLE_DEVICE) for _ in range(2))
        assert once == again
    for cell in recorded_cells(name):
        if cell.size <= 10**6 and cell.work:
            work = study.variant(cell.variant).counted(cell.size, dtype, None)
            assert [(each.name, each.count) for each in cell.work] == [
                (each.name, each.count) for each in work
            ]


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, tuple[Any, ...]]]:
    """Numba's kernels with what they would be launched with; no GPU is needed, and host arrays will do."""
    from numba.cuda.dispatcher import CUDADispatcher

    seen: list[tuple[Any, tuple[Any, ...]]] = []
    monkeypatch.setattr(
        CUDADispatcher, "__getitem__", lambda kernel, shape: lambda *args: seen.append((kernel, args))
    )
    monkeypatch.setattr(plan, "current_stream", lambda: 0)
    monkeypatch.setattr(launch_sizes, "multiprocessors", lambda: 2)
    monkeypatch.setattr(kernel_families, "numba_parts", lambda n: np.empty(n, np.float32))
    return seen


def arguments(study: Study, variant: Variant, size: int) -> list[Any]:
    inputs = study.make_inputs(size, exact=False)
    return (
        [*inputs, np.zeros(*study.output_spec(size, inputs, variant))] if variant.takes_output else [*inputs]
    )


# It gets a number of bytes, and makes its array.
WITHOUT_ARRAYS = {("transfers.to_device", "asarray")}


def launchers() -> Iterator[tuple[str, Variant]]:
    """Variants on views; one of each launcher."""
    for name, study in STUDIES.items():
        done = set()
        for variant in study.variants:
            launcher = getattr(variant.call, "func", variant.call)
            if (name, variant.name) in WITHOUT_ARRAYS:
                continue
            if variant.arrays == "numba" and launcher not in done:
                done.add(launcher)
                yield name, variant


def named(pairs: list[tuple[str, Variant]]) -> dict[str, Any]:
    return {"argvalues": pairs, "ids": [f"{name}.{variant.name}" for name, variant in pairs]}


DELAYED = {"launch_overhead.busy"}  # the kernels of "launches", behind one of CuPy's


@needs_compilers()
@pytest.mark.parametrize(
    ("name", "variant"),
    **named([pair for pair in launchers() if pair[1].simulatable and pair[0] not in DELAYED]),
)
def test_every_kernel_compiles_for_sm_90(name: str, variant: Variant, launches: list[Any]) -> None:
    """Without a spill or a call: device functions are inlined."""
    from numba import typeof

    variant.on(small(name), tuple(arguments(STUDIES[name], variant, small(name))))()
    kernels = {kernel: tuple(map(typeof, launched)) for kernel, launched in launches}
    assert kernels
    for kernel, signature in kernels.items():
        facts = numba_facts(kernel, signature)
        assert (facts.spills, facts.count("call")) == (0, 0)
        assert facts.registers <= 64


# Copies -----------------------------------------------------------------------------------------------------

# Studies of something else, which copy a few bytes on the way or make their arrays inside the clock.
COPIES_BESIDE = {
    ("compile_cost.compiling", "kernel"),
    ("primes.primes", "launch_per_number"),
    ("primes.primes", "ufunc"),
    # Into new memory, which is not there to be pinned.
    ("transfers.to_host", "into_new"),
    # From pageable memory it takes a second: its page times that once, apart.
    ("transfers.product", "with_copies_pinned"),
}
# Studies of a page on which pageable memory is one thing among others that hinder: overlap.changes has both.
PINNED_FIRST = "overlap."


@pytest.mark.parametrize("name", STUDIES)
def test_what_copies_does_so_from_pageable_and_from_pinned_memory(name: str) -> None:
    copying = [v for v in STUDIES[name].variants if v.needs_gpu and v.space in ("host", "pinned")]
    for variant in copying:
        if (name, variant.name) != ("primes.primes", "launch_per_number"):
            assert ("pinned" if variant.space == "pinned" else "pageable") in variant.label
    pairs = [v.space for v in copying if (name, v.name) not in COPIES_BESIDE]
    if name.startswith(PINNED_FIRST):
        assert pairs.count("host") == 2 * (name == "overlap.changes")
    else:
        assert pairs.count("host") == pairs.count("pinned")


# What pages show --------------------------------------------------------------------------------------------

FILES = sorted(Path(topics.__path__[0]).glob("*/*.py"))


def compiled_by_numba(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            yield node


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.stem.startswith("kernels")],
    ids=lambda path: f"{path.parent.name}.{path.stem}",
)
def test_kernels_can_be_pasted(path: Path) -> None:
    """No hints, no name of this package; Numba as its own documentation imports it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    ours = {
        each.name for node in imports if (node.module or "").startswith("gpuguide") for each in node.names
    }
    for function in compiled_by_numba(tree):
        assert not ours & {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        hints = [node.annotation for node in ast.walk(function) if isinstance(node, ast.arg)]
        assert not any([function.returns, *hints])
    assert "jit" not in ours


def test_kernels_and_launchers_say_what_they_do_in_one_line() -> None:
    """More of it would push the code off the page; an example may follow."""
    compiled = {
        f"{path.parent.name}.{node.name}": ast.get_docstring(node) or ""
        for path in FILES
        for node in compiled_by_numba(ast.parse(path.read_text(encoding="utf-8")))
    }
    launchers = {
        f"{name}.{variant.name}": getdoc(getattr(variant.call, "func", variant.call)) or ""
        for name, study in STUDIES.items()
        for variant in study.variants
        if not isinstance(variant.call, RawKernel)
    }
    long = [
        name
        for name, said in (compiled | launchers).items()
        if len(said.split(">>>")[0].strip().splitlines()) != 1
    ]
    assert long == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_launches_name_no_stream(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            shape = node.func.slice
            assert not isinstance(shape, ast.Tuple) or len(shape.elts) == 2, f"line {node.lineno}"


# On the GPU -------------------------------------------------------------------------------------------------

ON_THE_GPU = {
    # The kernel of 15 by 15 is never larger than the image.
    "convolution.image": (17**2, 33**2, 257**2),
    "convolution.small": (33**2, 257**2),
    "convolution.large": (17**2, 33**2, 257**2),
    "first_call.kernel": (0, 1, 33, 512**2),
    "convolution.by_kernel": (1, 9, 15**2),
    "agnostic.contrast": (0, 1, 4, 31**2, 33**2, 512**2),
    "compile_cost.compiling": (1, 5 * 6 * 7, 32**3),
    "compile_cost.primes": (1009,),
    "grids_2d_3d.matrix": (*MATRICES, 781 * 1823),
    "grids_2d_3d.box": (*BOXES, 97 * 101 * 103),
    "how_to_time.qr": (64**2,),
    "kernel_families.contraction": (1, 33, 64),
    "kernel_families.total": (*SIZES, 4095, 4096, 4097, 8191, 8193, 10**6 + 3, 5 * 10**7),
    "kernel_families.switched": (*SIZES, 10**6 + 3),
    "know_your_gpu.mixes": tuple(4 * size for size in (*SIZES, 1025, 4095, 4096, 4097, 2**24, 2**24 + 1)),
    "know_your_gpu.reads": tuple(4 * size for size in (*SIZES, 1025, 4095, 4096, 4097, 2**24, 2**24 + 1)),
    "launch_overhead.launches": (1, 31, 257, 1024),
    "launch_overhead.busy": (31, 1024),
    "launch_overhead.qr": (64**2,),
    **dict.fromkeys((f"linear_algebra.{name}" for name in studies("linear_algebra")), (1, 33**2, 64**2)),
    "launch_sizes.shapes": (1, 31, 257, 1009, 2**20 + 3),
    "launch_sizes.empty": (1, 2, 1000, 2**20),
    "maximum_cpu.maximum_cpu": (32**3,),
    "numpy_to_cupy.rows": (1, 31**2, 33**2, 1024**2),
    "interop.waiting": (1, 33, 10**6 + 3),
    # Rows of 2048 numbers: less than a chunk, one, and the rest of a second or fourth.
    **dict.fromkeys(("overlap.overlap", "overlap.changes", "overlap.sums"), (0, 1, 33, 2048, 2049, 6150)),
    "overlap.chain": (0, 1, 33, 2048, 2049),
    "primes.primes": (2, 100, 1000, 10**4),
    "registers.product": (0, 1, 3, 4, 5, 33),
    "segmented_sieve.segmented": (2, 100, 1000, 10**4),
    "segmented_sieve.count": (2, 100, 1000, 10**4),
    # Not at size 1, which is how a variant says that its GPUs are not here.
    "several_gpus.integral": (31, 2**16 + 5, 2**24),
    "several_gpus.workers": (31, 2**16 + 5, 2**24),
    "several_gpus.heat": (31, 257, 1009, 2**20),
    # Beyond 2^24, too, where float32 does not hold all whole numbers.
    "several_gpus.sums": (0, 31, 1022, 2**20, 2**25),
    "sort_search.sort": (*SIZES, 4096**2),
    "sort_search.argsort": (*SIZES, 4096**2),
    "sort_search.rows": (1, 31**2, 33**2, 4096**2),
    "streams.inverses": (0, 1, 31**2, 64**2, 257**2),
    "streams.products": (0, 1, 31**2, 64**2, 257**2),
    **dict.fromkeys(("streams.blocks", "streams.waits"), (0, 1, 3, 33, 264)),
    "streams.short": (0, 1, 3, 1009),
    "transfers.convolution": (1, 31**2, 33**2),
    "transfers.product": (0, 1, 3, 8),
    "ufuncs.distance": (*SIZES[1:], 32**3, 10**6 + 3),  # Numba's generalized ufunc refuses no rows
}


# Importing cupyx.scipy.signal warns of a part of CuPy that no study uses.
@pytest.mark.filterwarnings("ignore:cupyx.jit.rawkernel is experimental:FutureWarning")
@pytest.mark.gpu
@pytest.mark.parametrize("name", STUDIES)
def test_all_variants_equal_the_reference_on_the_gpu(name: str) -> None:
    report = STUDIES[name].check_all(ON_THE_GPU.get(name, (*SIZES, 32**3, 65_536, 10**6 + 3)))
    assert not report.skipped
