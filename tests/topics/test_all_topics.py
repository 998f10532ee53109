"""What holds for every study of every topic: right results, refused arrays, compiled kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spoiled import assert_rejects

from compile_lane import needs_compilers, numba_facts
from gpuguide import topics
from gpuguide.catalogue import studies, topic_names
from gpuguide.measure import plan
from gpuguide.measure.plan import Variant
from gpuguide.topics.convolution import study as convolution
from gpuguide.topics.convolution_ladder import study as convolution_ladder
from gpuguide.topics.kernel_families import study as kernel_families
from gpuguide.topics.launch_sizes import study as launch_sizes
from gpuguide.topics.precision import study as precision
from gpuguide.topics.random_in_kernels import study as random_in_kernels
from gpuguide.topics.several_gpus.all_reduce import sum_of_all
from gpuguide.topics.several_gpus.stencil import heat_reference
from gpuguide.topics.several_gpus.study import areas_reference
from gpuguide.topics.stencil import study as stencil

STUDIES = {f"{topic}.{name}": study for topic in topic_names() for name, study in studies(topic).items()}
# Sizes of studies that cannot be simulated and take squares, or a few slow rows.
SMALL = {
    "convolution.large": 33**2,
    "convolution.by_kernel": 5**2,
    "convolution_ladder.by_kernel": 7**2,
    "launch_overhead.hundred": 16**2,
    "streams.inverses": 17**2,
    "streams.products": 17**2,
    "streams.waits": 2,
    "which_tool.few": 5 * 7,
    "which_tool.odd": 5 * 7,
    **{f"matmul.{name}": 33 for name in ("tf32", "half", "brain")},
}
RIGHT: dict[str, Callable[..., Any]] = {
    **{name: study.answer or study.reference for name, study in STUDIES.items()},
    "several_gpus.integral": lambda *inputs: areas_reference(*inputs)[0],
    "several_gpus.workers": lambda *inputs: areas_reference(*inputs)[0],
    "several_gpus.heat": lambda *inputs: heat_reference(*inputs)[0],
    "several_gpus.sums": lambda x: sum_of_all(2, x),
}
# A thread with 8 by 8 sums needs more, and 128 still let two blocks of 256 threads share a multiprocessor.
MOST_REGISTERS = {"matmul.product": 128, "matmul.odd_product": 128}
# Their checks allow a distance of the whole, not of an element.
BY_PROPERTIES = {"how_to_time.qr", *(f"linear_algebra.{name}" for name in ("qr", "qr_single", "svd", "eigh"))}


def small(name: str) -> int:
    return SMALL.get(name) or max(STUDIES[name].small, default=257)


# Results ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, right in RIGHT.items() if right])
def test_a_study_rejects_wrong_variants(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that writes nothing, one element off, shifted by one, and twice the tolerance."""
    for study in (convolution, convolution_ladder):
        monkeypatch.setattr(study, "EDGE", 64)  # of by_kernel's image, whatever the size of the study
    assert_rejects(STUDIES[name], RIGHT[name], small(name), elementwise=name not in BY_PROPERTIES)


# Launches ---------------------------------------------------------------------------------------------------


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
    states = lambda n: np.empty(n, [("s0", "u8"), ("s1", "u8")])  # noqa: E731
    monkeypatch.setattr(random_in_kernels, "states", states)
    monkeypatch.setattr(precision, "room", lambda n, dtype: np.empty(n, dtype))
    monkeypatch.setattr(kernel_families, "numba_parts", lambda n: np.empty(n, np.float32))
    monkeypatch.setattr(stencil, "spare", lambda rows, cols: np.empty((rows, cols), np.float32))
    return seen


def launchers() -> Iterator[tuple[str, Variant]]:
    """Variants whose kernels are Numba's; one of each launcher."""
    for name, study in STUDIES.items():
        done = set()
        for variant in study.variants:
            launcher = getattr(variant.call, "func", variant.call)
            if variant.arrays == "numba" and variant.simulatable and launcher not in done:
                done.add(launcher)
                yield name, variant


@needs_compilers()
@pytest.mark.parametrize(
    ("name", "variant"), [pytest.param(*pair, id=f"{pair[0]}.{pair[1].name}") for pair in launchers()]
)
def test_every_kernel_compiles_for_sm_90(name: str, variant: Variant, launches: list[Any]) -> None:
    """Without a spill or a call: device functions are inlined."""
    from numba import typeof

    study, size = STUDIES[name], small(name)
    arrays = [*study.make_inputs(size, exact=False)]
    if variant.takes_output:
        arrays.append(np.zeros(*study.output_spec(size, tuple(arrays), variant)))
    variant.on(size, tuple(arrays))()
    kernels = {kernel: tuple(map(typeof, launched)) for kernel, launched in launches}
    assert kernels
    for kernel, signature in kernels.items():
        facts = numba_facts(kernel, signature)
        assert (facts.spills, facts.count("call")) == (0, 0)
        assert facts.registers <= MOST_REGISTERS.get(name, 64)


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


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_launches_name_no_stream(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            shape = node.func.slice
            assert not isinstance(shape, ast.Tuple) or len(shape.elts) == 2, f"line {node.lineno}"


# On the GPU -------------------------------------------------------------------------------------------------


# Importing cupyx.scipy.signal warns of a part of CuPy that no study uses.
@pytest.mark.filterwarnings("ignore:cupyx.jit.rawkernel is experimental:FutureWarning")
@pytest.mark.gpu
@pytest.mark.parametrize("name", STUDIES)
def test_all_variants_equal_the_reference_on_the_gpu(name: str) -> None:
    assert not STUDIES[name].check_all([small(name)]).skipped
