"""What stands open on a lesson runs as it is copied, from top to bottom, and is right at other sizes, too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from lesson_sizes import NOT_SIMULATED, OTHER_SIZES
from open_blocks import (
    END,
    LAYOUT,
    Block,
    OtherSizes,
    edited,
    folded_names,
    functions,
    is_kernel,
    kernels_of,
    lessons,
    names_missing,
    open_blocks,
    program,
)

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, read_pages
from gpuguide_docs.show.guide import new_states

LESSONS = lessons()
of_each_lesson = pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.name)
at_other_sizes = pytest.mark.parametrize(
    ("page", "sizes"),
    [
        pytest.param(page, sizes, id=f"{page.name}-{number}")
        for page in LESSONS
        for number, sizes in enumerate(OTHER_SIZES.get(page.name, ()), start=1)
    ],
)
on_a_gpu = [pytest.mark.gpu, pytest.mark.slow]
as_it_stands = pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=on_a_gpu if page.needs.gpus else []) for page in LESSONS],
)
#: Pages on which each run prints other numbers, because it prints times.
TIMED = ("clock", "how_to")
_FRACTION = re.compile(r"-?\d*\.\d*(?:e[-+]?\d+)?")
_THREADS = re.compile(r"\d+ threads")
_STAND_IN = f"""
import sys
sys.path.insert(0, {str(LAYOUT.docs / "_ext")!r})
from gpuguide_docs.commands import cupy_by_numpy
sys.modules["cupy"], sys.modules["cupyx"] = cupy_by_numpy, cupy_by_numpy.cupyx
"""


def run(tmp_path: Path, codes: list[str], checks: list[str] | None = None) -> list[str]:
    """Run blocks in a process of their own, as a reader would; give what each printed, and nothing else."""
    script = tmp_path / "open_blocks.py"
    script.write_text(program(tmp_path / "blocks.json", codes, checks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=170, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == "", "a warning"
    return done.stdout.split(END)[1:-1]


def simulated(page: Page, layout: Layout = LAYOUT) -> list[Block]:
    """The open blocks but for what is wrong on purpose: the simulator refuses some of that."""
    return [block for block in open_blocks(page, layout) if not (block.cell and block.cell.is_wrong)]


def at_size(blocks: list[Block], sizes: OtherSizes, folder: Path) -> str:
    """A program that runs blocks at another size, and checks the answer of each rung."""
    return program(folder / "blocks.json", edited(blocks, sizes.edits), sizes.of(blocks))


def of_any_machine(text: str) -> list[str]:
    """The words of an output; random numbers and times have fractions, and differ, as do threads of a CPU."""
    return _FRACTION.sub("#", _THREADS.sub("# threads", text)).split()


@of_each_lesson
def test_the_kernel_of_the_bare_cell_is_the_one_that_is_measured(page):
    assert kernel_differences(page) == []


def kernel_differences(page: Page, layout: Layout = LAYOUT) -> list[str]:
    """What the bare cell defines otherwise than kernels.py, or leaves out."""
    bare, source = next(block for block in open_blocks(page, layout) if block.cell), kernels_of(page, layout)
    here = functions(bare.cell.content)
    wanted = [name for name in here if is_kernel(bare.cell.content, name)]
    if source is None:
        return []
    missing = [bare.rung] if bare.rung in source.names and bare.rung not in here else []
    wrong = [name for name in wanted if name not in source.names]
    kept = [name for name in here if name in source.names]
    return missing + wrong + [name for name in kept if functions(source.cut(name)).get(name) != here[name]]


@of_each_lesson
def test_all_names_come_from_what_the_page_shows(page):
    assert names_missing([block.code for block in open_blocks(page)]) - folded_names(page) == set()


@of_each_lesson
def test_every_lesson_names_two_other_sizes(page):
    if page.name not in OTHER_SIZES:
        pytest.skip("no other sizes yet: add the page to tests/docs/lesson_sizes.py")
    assert len(OTHER_SIZES[page.name]) == 2


def test_only_pages_name_sizes():
    assert {*OTHER_SIZES, *NOT_SIMULATED} <= {page.name for page in read_pages(LAYOUT)}


@at_other_sizes
def test_in_the_simulator_the_answer_is_right_at_another_size(page, sizes, tmp_path, simulator_python):
    if page.name in NOT_SIMULATED:
        pytest.skip(NOT_SIMULATED[page.name])
    simulator_python(_STAND_IN + at_size(simulated(page), sizes, tmp_path))


@at_other_sizes
def test_in_the_simulator_the_bare_cell_needs_nothing_else(page, sizes, tmp_path, simulator_python):
    if page.name in NOT_SIMULATED:
        pytest.skip(NOT_SIMULATED[page.name])
    blocks = open_blocks(page)
    bare = next(number for number, block in enumerate(blocks) if block.cell)
    code = edited(blocks, sizes.edits)[bare]
    assert simulator_python(_STAND_IN + program(tmp_path / "blocks.json", [code])).strip(f"{END}\n")


@as_it_stands
def test_the_bare_cell_runs_alone(page, tmp_path):
    bare = next(block for block in open_blocks(page) if block.cell)
    (printed,) = run(tmp_path, [bare.code])
    assert printed.strip()


@as_it_stands
def test_the_open_blocks_give_the_output_of_the_page_without_a_warning(page, tmp_path):
    blocks = open_blocks(page)
    printed = run(tmp_path, [block.code for block in blocks])
    recording = new_states(LAYOUT)[page.name].shown
    if recording is None or page.kind in TIMED:
        return
    recorded = {output.cell: output.stdout for output in recording.cells}
    for block, words in zip(blocks, printed, strict=True):
        if block.cell and block.cell.index in recorded:
            assert of_any_machine(words) == of_any_machine(recorded[block.cell.index])


@pytest.mark.gpu
@pytest.mark.slow
@at_other_sizes
def test_on_a_gpu_the_answer_is_right_at_another_size(page, sizes, tmp_path):
    blocks = open_blocks(page)
    run(tmp_path, edited(blocks, sizes.edits), sizes.of(blocks))


# How these tests see what they are for: a miniature lesson, and mistakes in it ----------------------------

PAGE = '''"""
Mini
====

How?
"""
# %%
# .. rung:: one

import cupy as cp
from numba import cuda


@cuda.jit
def one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += STEP[0]


STEP = (1,)
x = cp.zeros(100, cp.float32)
one[(x.size + 31) // 32, 32](x)
print(x[:3])

# %%

# record: The study
import gpuguide as gg

# %%
# .. rung:: two

two[(x.size + 31) // 32, 32](x)

# %%
# Out of bounds.

# wrong: an index beyond the end
raise IndexError
'''
KERNELS = '''"""Kernels."""

from numba import cuda

STEP = (1,)


@cuda.jit
def one(x):
    """Add one."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] += STEP[0]


def width():
    return 2


@cuda.jit
def two(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += TWO
'''.replace("TWO", "2")
ENTRY = """[[section]]
name = "start"
title = "Start"
summary = "Where to begin."

[[page]]
section = "start"
name = "mini"
title = "Mini"
question = "How?"
kind = "tutorial"
level = "beginner"
needs = { gpus = 1 }
objectives = ["Read", "Doubt"]
"""
SIZES = OtherSizes(
    {"100": "33"}, {"one": "assert x.size == 33 and (x == 1).all()", "two": "assert (x == 3).all()"}
)


def mini(root: Path, page: str = PAGE, kernels: str = KERNELS) -> tuple[Page, Layout]:
    layout = Layout(root)
    files = {
        "examples/pages.toml": ENTRY,
        "examples/start/mini.py": page,
        "src/gpuguide/topics/mini/kernels.py": kernels,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (found,) = lessons(layout)
    return found, layout


def test_the_open_blocks_are_those_that_the_page_shows(tmp_path):
    blocks = open_blocks(*mini(tmp_path))
    assert [block.rung for block in blocks] == ["one", "two", ""]
    assert [block.code.splitlines()[0] for block in blocks] == [
        "import cupy as cp",
        "@cuda.jit",
        "# wrong: an index beyond the end",
    ]
    assert blocks[1].code.endswith("        x[i] += 2\n\n\ntwo[(x.size + 31) // 32, 32](x)")
    assert "gpuguide" not in "".join(block.code for block in blocks)


def test_a_launch_that_is_wrong_at_another_size_is_found(tmp_path, simulator_python):
    def at_other_size(page: str) -> None:
        simulator_python(_STAND_IN + at_size(simulated(*mini(tmp_path, page)), SIZES, tmp_path))

    at_other_size(PAGE)
    with pytest.raises(AssertionError):
        at_other_size(PAGE.replace("two[(x.size + 31) // 32, 32](x)", "two[1, 32](x)"))
    with pytest.raises(AssertionError, match="NameError"):
        at_other_size(PAGE.replace("import cupy as cp\n", ""))


def test_a_rung_without_a_check_is_named(tmp_path):
    with pytest.raises(AssertionError, match="each rung has a check"):
        OtherSizes({}, {"one": ""}).of(open_blocks(*mini(tmp_path)))


def test_an_edit_that_changes_nothing_is_named(tmp_path):
    with pytest.raises(AssertionError, match="'101' stands in no open block"):
        edited(open_blocks(*mini(tmp_path)), {"101": "33"})


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", []),
        ("+= STEP[0]", "+= 1", ["one"]),
        ("def one(x)", "def uno(x)", ["one", "uno"]),
        ("@cuda.jit\n", "@cuda.jit(fastmath=True)\n", ["one"]),
    ],
)
def test_another_kernel_in_the_bare_cell_is_found(tmp_path, old, new, found):
    assert kernel_differences(*mini(tmp_path, PAGE.replace(old, new))) == found


def test_a_name_that_no_block_defines_is_found(tmp_path):
    codes = [block.code for block in open_blocks(*mini(tmp_path))]
    assert names_missing(codes) == set()
    kernel = "def three(x):\n    y = [z for z in x]\n    return len(y) + SIX"
    assert names_missing([*codes, kernel, "@njit\ndef four(x):\n    return three(x)"]) == {"SIX", "njit"}


def test_a_name_that_is_imported_only_below_is_found():
    codes = [
        "def one(x):\n    return SIX",
        "@cuda.jit\ndef two(x):\n    pass",
        "from numba import cuda\nSIX = 6",
    ]
    assert names_missing(codes) == {"cuda"}
    assert names_missing([*codes[2:], *codes[:2]]) == set()


def test_the_imports_of_a_rung_come_before_its_kernel(tmp_path):
    page = PAGE.replace("\ntwo[(x.size", "\nfrom math import pi\n\ntwo[(x.size")
    blocks = open_blocks(*mini(tmp_path, page))
    assert blocks[1].code.startswith("from math import pi\n\n\n@cuda.jit")


def test_fractions_may_differ_and_counts_may_not():
    assert of_any_machine("[0.25 1.] 7 of 10\n") == of_any_machine("[0.5 -3.e-05] 7 of 10")
    assert of_any_machine("7 of 10") != of_any_machine("8 of 10")
