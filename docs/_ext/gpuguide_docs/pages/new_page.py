"""``make new-page``: the draft of a page, its topic and its test, small and runnable, to be rewritten."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template

from gpuguide.errors import ArgumentError, GpuGuideError, unknown
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import PagesError, read_pages, read_sections

__all__ = ["main", "write_page"]

_ENTRY = """\
[[page]]
section = "$section"
name = "$name"
title = "$title"
question = "What does this page answer?"
advice = "Say in one sentence what to do; the tile of the page shows it."
kind = "tutorial"
level = "beginner"
needs = { gpus = 1, gib = 1 }
objectives = [
    "say what this page is about",
    "try it on a GPU",
]
"""

_SCRIPT = '''\
"""
$title
$underline

What does this page answer?
"""
# %%
# .. One to three sentences of advice, with the one or two numbers that make it believable. The page's best
#    chart or drawing stands right below them, under its headline: .. drawn:: $name
#
# A GPU doubles 2\\ :sup:`24` numbers in :measured:`$name[one_element, 2**24].time`.

# %%
# One element per thread
# ----------------------
#
# .. The idea in one sentence. The cell is complete: readers can paste it, and need nothing of this guide.
#
# Each thread doubles the number that has its own index.
#
# .. rung:: one_element

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def one_element(x, out):
    i = cuda.grid(1)
    if i < x.size:  # the last block is seldom full
        out[i] = 2 * x[i]


x = cp.arange(1_000_000, dtype=cp.float32)
out = cp.empty_like(x)
one_element[(x.size + 255) // 256, 256](x, out)
print("GPU:  ", out[:4])
print("NumPy:", 2 * np.arange(4))

# %%
# .. try-it::
#
#    Replace ``2 * x[i]`` with ``x[i] + x[i]`` and run the cell again. Say here what then happens.
#
# .. What the numbers say. A sentence that names a cause ends with its evidence.

# %%

# record: The study: NumPy and the kernel at six sizes, every result compared
import gpuguide as gg
from gpuguide.topics.$name.study import doubled

results = doubled.run()

# %%
# The next step or case
# ---------------------
#
# .. Its idea, its kernel or call, its numbers, and a sentence or two on what they say. A kernel in kernels.py
#    is shown by the directive rung above the cell that launches it.

# %%
# Result: NumPy wins at small sizes
# ---------------------------------
#
# .. One or two charts, each with a headline, and what limits it now.
#
# .. headline:: NumPy wins up to a few thousand numbers

# draw
gg.plot_time(results)

# %%
# The kernel overtakes NumPy :measured:`$name.crossover(numpy, one_element)`.
#
# .. kernel:: gpuguide.topics.$name.study
#    :names: numpy
#    :fold: What NumPy does

# draw
gg.claim(results, "numpy", faster_than="one_element", at=2**10)
gg.claim(results, "one_element", faster_than="numpy", at=2**24)

# %%
# .. One to three bullets of advice, which the cheat sheet collects.
#
# .. remember::
#
#    - Give each thread one element, and let it check that there is one: the last block is seldom full.
#    - Leave vectors that are too short for the GPU to NumPy.

# %%
# Your turn
# ---------
#
# .. One exercise, whose name is in the entry, too: .. exercise:: NAME

# %%
# Next
# ----
#
# .. Two links in plain words: "Next: ..., on ... . See also: ..., on ... ."
'''

_PACKAGE = '''\
"""Kernels and study of the page $name."""
'''

_KERNELS = '''\
"""Kernels of the page $name, as the page shows them."""

from numba import cuda


@cuda.jit
def one_element(x, out):
    """Each thread doubles the number that has its own index."""
    i = cuda.grid(1)
    if i < x.size:  # the last block is seldom full
        out[i] = 2 * x[i]
'''

_STUDY = '''\
"""Doubling the elements of a vector: a draft, to be replaced by what the page $name is about."""

import numpy as np

from gpuguide.measure import Study, cpu, kernel, per_element, uniform
from gpuguide.topics.$name import kernels

BLOCK = 256


def blocks(n):
    """Count the blocks that give each of n elements a thread."""
    return -(-n // BLOCK)


def numpy(x, out):
    """Double with NumPy, on one thread."""
    np.multiply(x, 2, out=out)


def inputs(n, dtype, rng, exact):
    # Counting up shows an element that ended up in the wrong place.
    return (np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype),)


doubled = Study(
    name="$name",
    title="Doubling the elements of a vector",
    sizes=(2**10, 2**13, 2**16, 2**18, 2**20, 2**24),
    dtype="float32",
    inputs=inputs,
    input_note="uniform random numbers; whole numbers counting up for the exact check",
    reference=lambda x: 2 * x,
    equal=True,
    traffic=per_element(reads=1, writes=1, flops=1),
    baseline="numpy",
    variants=(
        cpu(numpy, "NumPy"),
        kernel(kernels.one_element, "One element per thread", lambda n: (blocks(n), BLOCK)),
    ),
)
'''

_TEST = '''\
"""What the kernels of the page $name alone promise; test_all_topics.py checks what holds for all."""

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.$name.kernels import one_element


@needs_compilers()
def test_the_kernel_reads_once_and_writes_once() -> None:
    from numba import float32

    facts = numba_facts(one_element, (float32[::1], float32[::1]))
    assert (facts.count("ld.global"), facts.count("st.global")) == (1, 1)
'''


def write_page(layout: Layout, name: str, section: str) -> list[Path]:
    """Write a draft: its entry, script, topic and test, and the topic's lines in the reference."""
    pages, sections = read_pages(layout), [each.name for each in read_sections(layout)]
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ArgumentError(
            f"{name!r} cannot name a page: its topic is a Python module, so write a word of lower-case "
            "letters, digits and '_', such as NAME=shared_memory."
        )
    if name in [page.name for page in pages]:
        raise ArgumentError(f"There is a page {name!r} in examples/pages.toml already; choose another name.")
    if section not in sections:
        raise unknown("section", section, sections)
    topic = layout.source / "gpuguide" / "topics" / name
    texts = {
        layout.script(section, name): _SCRIPT,
        topic / "__init__.py": _PACKAGE,
        topic / "kernels.py": _KERNELS,
        topic / "study.py": _STUDY,
        layout.root / "tests" / "topics" / f"test_{name}.py": _TEST,
    }
    for path in texts:
        if path.exists():
            where = path.relative_to(layout.root)
            raise ArgumentError(f"{where} exists already; choose another name or delete what is left there.")
    title = name.replace("_", " ").capitalize()
    words = {"name": name, "section": section, "title": title, "underline": "=" * len(title)}
    before = sections[: sections.index(section) + 1]
    earlier = [page for page in pages if page.section in before]
    # Pages need not be listed section by section, so the new one follows the last of its own, if it has one.
    own = [page.name for page in earlier if page.section == section]
    _insert_entry(layout.pages_toml, Template(_ENTRY).substitute(words), own or [p.name for p in earlier])
    reference = layout.docs / "api" / "index.rst"
    listed = [reference] if _list_topic(reference, name, [page.topic for page in earlier]) else []
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(words), encoding="utf-8")
    return [layout.pages_toml, *listed, *texts]


def _insert_entry(path: Path, entry: str, earlier: list[str]) -> None:
    """Put an entry after the last of these pages, before any other without one."""
    # Cut as text, not parsed and written anew: comments and layout of the file stay.
    head, *entries = re.split(r"(?m)^(?=\[\[page\]\])", path.read_text(encoding="utf-8"))
    names = [re.search(r'(?m)^name = "(\w+)"', each) for each in entries]
    places = [place for place, found in enumerate(names) if found and found[1] in earlier]
    place = max(places, default=-1) + 1
    parts = [head, *entries[:place], f"{entry}\n", *entries[place:]]
    path.write_text("\n\n".join(part.strip("\n") for part in parts) + "\n", encoding="utf-8")


def _list_topic(path: Path, name: str, earlier: list[str]) -> bool:
    """List the topic in the reference, after that of the page before it; say whether there is a list."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    topics = {
        number: found[1]
        for number, line in enumerate(lines)
        if (found := re.match(r"   topics\.(\w+)$", line))
    }
    if not topics:
        return False
    near = next((topic for topic in reversed(earlier) if topic in topics.values()), [*topics.values()][-1])
    place = next(number for number, topic in topics.items() if topic == near) + 1
    lines.insert(place, f"   topics.{name}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a draft and say what to do next."""
    parser = argparse.ArgumentParser(prog="make new-page", description="Write the draft of a page.")
    parser.add_argument("name", help="of the page, such as shared_memory")
    parser.add_argument("section", help="one of those in examples/pages.toml")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="folder of the project")
    options = parser.parse_args(arguments)
    layout = Layout(options.root)
    if not options.name or not options.section:
        sections = ", ".join(section.name for section in read_sections(layout))
        print(f"Write make new-page NAME=name SECTION=section. The sections are {sections}.", file=sys.stderr)
        return 2
    try:
        written = write_page(layout, options.name, options.section)
    except (GpuGuideError, PagesError) as error:
        print(f"No page was written. {error}", file=sys.stderr)
        return 2
    print("A draft that doubles numbers, to be rewritten:")
    for path in written:
        print(f"  {path.relative_to(layout.root)}")
    print(f"make page PAGE={options.name} builds it, tries it without a GPU, and says what is missing.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
