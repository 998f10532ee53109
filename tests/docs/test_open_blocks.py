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
    bare_cell,
    functions,
    kernels_of,
    lessons,
    names_missing,
    open_blocks,
    program,
)

from gpuguide_docs.show.guide import new_states

LESSONS = lessons()
SIZED = [page for page in LESSONS if page.name in OTHER_SIZES]
of_each_lesson = pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.name)
on_a_gpu = [pytest.mark.gpu, pytest.mark.slow]
as_it_stands = pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=on_a_gpu if page.needs.gpus else []) for page in LESSONS],
)
#: Pages on which each run prints other numbers, because it prints times.
TIMED = ("clock", "how_to")
# Of a kernel, as gg.trace names and quotes them: what is pasted stands in another file.
_LINES = re.compile(r"(\blines?\s+)\d+(?:(\s+and\s+)\d+)?|^\s*\d+ \|", re.MULTILINE)
_FRACTION = re.compile(r"-?\d*\.\d*(?:e[-+]?\d+)?")
_THREADS = re.compile(r"\d+ threads")
_STAND_IN = f"""
import runpy
import sys
sys.path.insert(0, {str(LAYOUT.docs / "_ext")!r})
from gpuguide_docs.commands import cupy_by_numpy
sys.modules["cupy"], sys.modules["cupyx"] = cupy_by_numpy, cupy_by_numpy.cupyx
"""


def run(tmp_path: Path, code: str) -> list[str]:
    """Run blocks in a process of their own, as a reader would; give what each printed, and nothing else."""
    script = tmp_path / "open_blocks.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=170, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == "", "a warning"
    return done.stdout.split(END)[1:-1]


def of_any_machine(text: str) -> list[str]:
    """The words of an output; random numbers and times have fractions, and differ, as do threads of a CPU."""
    text = _LINES.sub(r"\1\2", text)
    return _FRACTION.sub("#", _THREADS.sub("# threads", text)).split()


@of_each_lesson
def test_the_kernel_of_the_bare_cell_is_the_one_that_is_measured(page):
    bare, source = bare_cell(page), kernels_of(page)
    if source is None:
        return
    here = functions(bare.cell.content)
    assert bare.rung in here or bare.rung not in source.names
    for name, code in here.items():
        assert name in source.names or "@cuda.jit" not in code
        assert name not in source.names or functions(source.cut(name))[name] == code


@of_each_lesson
def test_all_names_come_from_what_the_page_shows_and_the_bare_cell_needs_no_block_above_it(page):
    assert names_missing(page, open_blocks(page)) == set()
    assert names_missing(page, [bare_cell(page)]) == set()


def test_sizes_are_those_of_pages():
    assert {*OTHER_SIZES, *NOT_SIMULATED} <= {page.name for page in LESSONS}


@pytest.mark.parametrize("page", SIZED, ids=lambda page: page.name)
def test_in_the_simulator_the_answer_is_right_at_other_sizes(page, tmp_path, simulator_python):
    if page.name in NOT_SIMULATED:
        pytest.skip(NOT_SIMULATED[page.name])
    # The simulator refuses some of what is wrong on purpose.
    blocks = [block for block in open_blocks(page) if not (block.cell and block.cell.is_wrong)]
    script = tmp_path / "page.py"
    script.write_text(OTHER_SIZES[page.name].program(blocks), encoding="utf-8")
    simulator_python(_STAND_IN + f"runpy.run_path({str(script)!r}, run_name='__main__')\n")


@as_it_stands
def test_the_bare_cell_runs_alone(page, tmp_path):
    (printed,) = run(tmp_path, program([bare_cell(page).code]))
    assert printed.strip()


@as_it_stands
def test_the_open_blocks_give_the_output_of_the_page_without_a_warning(page, tmp_path):
    blocks = open_blocks(page)
    printed = run(tmp_path, program([block.code for block in blocks]))
    recording = new_states(LAYOUT)[page.name].shown
    if recording is None or page.kind in TIMED:
        return
    recorded = {output.cell: output.stdout for output in recording.cells}
    for block, words in zip(blocks, printed, strict=True):
        if block.cell and block.cell.index in recorded:
            assert of_any_machine(words) == of_any_machine(recorded[block.cell.index])


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("page", SIZED, ids=lambda page: page.name)
def test_on_a_gpu_the_answer_is_right_at_other_sizes(page, tmp_path):
    run(tmp_path, OTHER_SIZES[page.name].program(open_blocks(page)))
