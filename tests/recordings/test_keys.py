"""Keys: what changes them, what does not, and the words in which a change is reported."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest

import gpuguide
from gpuguide.errors import ArgumentError
from gpuguide.recordings.canonical import digest, reads_docstrings
from gpuguide.recordings.keys import (
    MEASURING_ROOMS,
    PART_NAME,
    Keys,
    changes,
    measuring_key,
    measuring_modules,
    recorded_cells,
)

ROOT = Path(__file__).parents[2]
PAGE = '''"""
Title
=====

Question?
"""
# %%
# Prose.

import numpy as np  # the first cell
####################################
# More prose
# on two lines.

x = 1

# %%

# draw
gg.plot_time(results)

# %%
# Only a comment follows.

# sphinx_gallery_thumbnail_number = 2

# %%
# A heading line.
y = 2
#%%

# draw: the table
print(y)
'''
TOPIC = '"""A topic."""\n\nSOURCE = "int i;"\n\ndef study():\n    """Doc."""\n    return 1\n'
DEVICE = """
class Device:
    bandwidth: float
    peak: float

PEAK = 66.9e12

def peak(device):
    if device is None:
        raise LookupError(f"no device: {device}")
    return PEAK
"""
RECORDS = """
from dataclasses import dataclass

@dataclass
class Traffic:
    read: int = 0
    written: int = 0

    @property
    def total(self):
        return self.read + self.written

def rate(traffic, seconds):
    return traffic.total / seconds
"""
FILES = {
    "src/gpuguide/__init__.py": "HOMES = {'Study': 'measure.study'}\n",
    "src/gpuguide/topics/__init__.py": '"""Topics."""\n',
    "src/gpuguide/topics/primes/__init__.py": "",
    "src/gpuguide/topics/primes/study.py": TOPIC,
    "src/gpuguide/topics/primes/peers.py": "COMMAND = 'profile'\n",
    "src/gpuguide/machine/device.py": DEVICE,
    "src/gpuguide/measure/timing.py": "MIN_SAMPLES = 20\n\ndef enough(n):\n    return n >= MIN_SAMPLES\n",
    "src/gpuguide/results/records.py": RECORDS,
    "src/gpuguide/charts/lines.py": "x = 1\n",
    "docs/_ext/gpuguide_docs/__init__.py": '"""The extension."""\n',
    "docs/_ext/gpuguide_docs/record/execution.py": "def run_cell(cell):\n    return cell\n",
    "docs/_ext/gpuguide_docs/show/byline.py": "x = 1\n",
    "examples/first/primes.py": PAGE,
}
LOADED = [
    *(path[: -len(".py")].split("/", 1)[1].replace("/", ".") for path in FILES if path.startswith("src/")),
    *(path[: -len(".py")].split("/", 2)[2].replace("/", ".") for path in FILES if path.startswith("docs/")),
    "numpy",
]
LOADED = [name.removesuffix(".__init__") for name in LOADED]


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A miniature project with a page; gives the folder that holds `gpuguide`."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "src"


def script(src: Path) -> Path:
    return src.parent / "examples" / "first" / "primes.py"


@pytest.fixture
def recorded(src: Path) -> Keys:
    """The keys as they were when the page was recorded."""
    return measuring_key(recorded_cells(PAGE), LOADED, src)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_recorded_cells_leave_out_text_drawn_cells_and_comments() -> None:
    assert [cell.strip() for cell in recorded_cells(PAGE)] == [
        "import numpy as np  # the first cell",
        "x = 1",
        "y = 2",
    ]


def test_recorded_cells_are_those_that_the_gallery_sees(src: Path) -> None:
    """Two readers of one format must not drift apart."""
    pytest.importorskip("sphinx_gallery")
    cells = pytest.importorskip("gpuguide_docs.pages.cells")
    scripts = [script(src), *(ROOT / "examples").rglob("*.py")]
    for path in scripts:
        theirs = [cell.content for cell in cells.read_cells(path) if cell.kind == "recorded"]
        assert list(recorded_cells(path.read_text(encoding="utf-8"))) == theirs, path


def test_parts_are_the_cells_and_the_modules_of_the_measuring_rooms(recorded: Keys) -> None:
    assert [name for name, _ in recorded.parts] == [
        "cell 1",
        "cell 2",
        "cell 3",
        "gpuguide.machine.device",
        "gpuguide.measure.timing",
        "gpuguide.results.records",
        "gpuguide.topics",
        "gpuguide.topics.primes",
        "gpuguide.topics.primes.peers",
        "gpuguide.topics.primes.study",
        "gpuguide_docs",
        "gpuguide_docs.record.execution",
    ]
    assert recorded.parts[1] == ("cell 2", digest("x = 1"))
    assert recorded == Keys.of(recorded.parts)
    assert all(PART_NAME.fullmatch(name) for name, _ in recorded.parts)


def test_a_room_is_its_folder_and_not_what_its_name_begins_with() -> None:
    names = ["gpuguide.measured", "gpuguide.topics_of_old", "gpuguide_docs.recorder", "gpuguide_docs.pages"]
    assert measuring_modules([*names, *MEASURING_ROOMS]) == tuple(sorted(MEASURING_ROOMS))


@pytest.mark.parametrize("name", ["gpuguide_docsx.a", "gpuguide.", "numpy", "cell 0", "gpuguide_docs.a b"])
def test_other_names_are_no_parts(name: str) -> None:
    assert not PART_NAME.fullmatch(name)


def test_an_untouched_page_is_current(recorded: Keys, src: Path) -> None:
    assert changes(recorded, script(src), src) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Prose.", "# Other prose."),
        ("# Prose.", "# Prose.\n#\n# More."),
        ("# the first cell", "# the very first cell"),
        ("gg.plot_time(results)", "gg.plot_speedup(results, 'numpy')"),
        ("x = 1\n", "x = 1\n\n# %%\n\n# draw\nanother(results)\n"),
        ("x = 1\n", "x: int = 1  # annotated\n"),
        ("Question?", "Another question?"),
    ],
)
def test_prose_and_drawings_change_nothing(old: str, new: str, recorded: Keys, src: Path) -> None:
    edit(script(src), old, new)
    assert changes(recorded, script(src), src) == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("x = 1\n", "x = 2\n", ["cell 2 of examples/first/primes.py"]),
        ("x = 1\n", "", ["recorded cell 2 is gone"]),
        ("x = 1\n", "x = 1\n\n# %%\n\nz = 3\n", ["cell 3 of examples/first/primes.py is new"]),
        ("# draw\ngg", "gg", ["cell 3 of examples/first/primes.py is new"]),
        ("x = 1\n", "# draw\nx = 1\n", ["recorded cell 2 is gone"]),
    ],
)
def test_changed_cells_are_named(old: str, new: str, words: list[str], recorded: Keys, src: Path) -> None:
    edit(script(src), old, new)
    assert list(changes(recorded, script(src), src)) == words


STALE = {
    "a number that a topic returns": ("src/gpuguide/topics/primes/study.py", "return 1", "return 2"),
    "a kernel's text": ("src/gpuguide/topics/primes/study.py", "int i;", "int j;"),
    "a script that a topic starts in a process of its own": (
        "src/gpuguide/topics/primes/peers.py",
        "'profile'",
        "'trace'",
    ),
    "the device's peak": ("src/gpuguide/machine/device.py", "66.9e12", "133.8e12"),
    "the order of fields": (
        "src/gpuguide/machine/device.py",
        "    bandwidth: float\n    peak: float\n",
        "    peak: float\n    bandwidth: float\n",
    ),
    "what a message computes": ("src/gpuguide/machine/device.py", "{device}", "{device.name}"),
    "the class of an error": ("src/gpuguide/machine/device.py", "raise LookupError", "raise KeyError"),
    "the stopping rule": ("src/gpuguide/measure/timing.py", "MIN_SAMPLES = 20", "MIN_SAMPLES = 2"),
    "the order of fields of what is measured": (
        "src/gpuguide/results/records.py",
        "    read: int = 0\n    written: int = 0\n",
        "    written: int = 0\n    read: int = 0\n",
    ),
    "a default of what is measured": ("src/gpuguide/results/records.py", "read: int = 0", "read: int = 8"),
    "code in the package of topics": ("src/gpuguide/topics/__init__.py", '."""\n', '."""\nimport os\n'),
    "how a cell is run": ("docs/_ext/gpuguide_docs/record/execution.py", "return cell", "return cell * 2"),
}
CURRENT = {
    "a docstring": ("src/gpuguide/topics/primes/study.py", "A topic.", "The topic."),
    "an annotation": ("src/gpuguide/topics/primes/study.py", "def study():", "def study() -> int:"),
    "a constant message": ("src/gpuguide/machine/device.py", "no device: ", "there is no device: "),
    "what is computed of the data": ("src/gpuguide/results/records.py", "total / seconds", "total * 2"),
    "a property of the data": ("src/gpuguide/results/records.py", "self.read +", "2 * self.read +"),
    "a public name more": ("src/gpuguide/__init__.py", "{", "{'trace': 'tracer.trace', "),
    "a chart": ("src/gpuguide/charts/lines.py", "x = 1", "x = 2"),
    "what shows a number": ("docs/_ext/gpuguide_docs/show/byline.py", "x = 1", "x = 2"),
}


@pytest.mark.parametrize("change", STALE)
def test_what_can_change_a_number_makes_a_page_stale(change: str, recorded: Keys, src: Path) -> None:
    file, old, new = STALE[change]
    edit(src.parent / file, old, new)
    assert changes(recorded, script(src), src) == (file,)


@pytest.mark.parametrize("change", CURRENT)
def test_what_cannot_change_a_number_leaves_a_page_current(change: str, recorded: Keys, src: Path) -> None:
    file, old, new = CURRENT[change]
    edit(src.parent / file, old, new)
    assert changes(recorded, script(src), src) == ()


def test_a_docstring_counts_where_any_part_reads_docstrings(src: Path) -> None:
    """A kernel's source may stand in the docstring of another module."""
    other = src / "gpuguide" / "topics" / "primes" / "__init__.py"
    other.write_text("from gpuguide.topics.primes import study\nSOURCE = study.study.__doc__\n")
    recorded = measuring_key(recorded_cells(PAGE), LOADED, src)
    assert changes(recorded, script(src), src) == ()
    edit(src / "gpuguide" / "topics" / "primes" / "study.py", "Doc.", "Other.")
    assert changes(recorded, script(src), src) == ("src/gpuguide/topics/primes/study.py",)


def test_a_cell_that_reads_docstrings_makes_those_of_modules_count(src: Path) -> None:
    edit(script(src), "x = 1", "x = study.__doc__")
    cells = recorded_cells(script(src).read_text())
    recorded = measuring_key(cells, LOADED, src)
    edit(src / "gpuguide" / "topics" / "primes" / "study.py", "Doc.", "Other.")
    assert changes(recorded, script(src), src) == ("src/gpuguide/topics/primes/study.py",)


def test_a_text_that_a_cell_shows_counts(recorded: Keys, src: Path) -> None:
    first = measuring_key(["'shown'"], [])
    assert first != measuring_key(["'another'"], [])


def test_a_new_file_that_no_page_loads_changes_no_key(recorded: Keys, src: Path) -> None:
    (src / "gpuguide" / "measure" / "faster.py").write_text("x = 1\n")
    assert changes(recorded, script(src), src) == ()


def test_a_removed_module_is_named(recorded: Keys, src: Path) -> None:
    (src / "gpuguide" / "measure" / "timing.py").unlink()
    assert changes(recorded, script(src), src) == ("src/gpuguide/measure/timing.py is gone",)


def test_a_module_that_moved_is_gone_from_where_it_was(recorded: Keys, src: Path) -> None:
    """Its name is how others reach it."""
    timing = src / "gpuguide" / "measure" / "timing.py"
    timing.rename(src / "gpuguide" / "machine" / "timing.py")
    assert changes(recorded, script(src), src) == ("src/gpuguide/measure/timing.py is gone",)


def test_a_module_that_became_a_package_is_read(recorded: Keys, src: Path) -> None:
    timing = src / "gpuguide" / "measure" / "timing.py"
    timing.with_suffix("").mkdir()
    # A folder of that name alone hides nothing: Python takes the file.
    assert changes(recorded, script(src), src) == ()
    timing.rename(timing.with_suffix("") / "__init__.py")
    assert changes(recorded, script(src), src) == ()


def test_without_the_extension_s_source_its_parts_are_gone(recorded: Keys, src: Path) -> None:
    """An installed package has no sources of the extension; it reads recordings all the same."""
    shutil.rmtree(src.parent / "docs")
    gone = changes(recorded, script(src), src)
    assert gone == (
        "docs/_ext/gpuguide_docs.py is gone",
        "docs/_ext/gpuguide_docs/record/execution.py is gone",
    )


def test_a_process_that_a_topic_starts_runs_a_module_that_the_page_has_loaded() -> None:
    """What a child process alone runs would be in no key: who starts ``-m module`` is that module itself."""
    started = []
    for path in (ROOT / "src" / "gpuguide").rglob("*.py"):
        if path.relative_to(ROOT / "src").parts[1] in ("topics", "machine", "measure"):
            name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
            found = re.findall(r'"-m", "(gpuguide[\w.]*)"', path.read_text(encoding="utf-8"))
            started += [(name, module) for module in found]
    assert all(starter == module for starter, module in started)


def test_order_of_the_cells_counts() -> None:
    assert measuring_key(["x = 1", "y = 2"], []) != measuring_key(["y = 2", "x = 1"], [])


def test_a_cell_that_does_not_parse_is_named() -> None:
    with pytest.raises(ArgumentError, match="cell 2 cannot be digested"):
        measuring_key(["x = 1", "x = ("], [])
    with pytest.raises(ArgumentError, match="the page does not parse"):
        recorded_cells("x = (")


def test_a_module_without_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"source of module 'gpuguide\.machine\.launch'"):
        measuring_key([], ["gpuguide.machine.launch"], tmp_path)


def test_the_harness_reads_docstrings_for_the_notes_of_variants_alone() -> None:
    """Else a docstring could change a number, and no key would notice."""
    package = Path(gpuguide.__file__).parent
    rooms = (package / "machine", package / "measure", ROOT / "docs" / "_ext" / "gpuguide_docs" / "record")
    found = [
        path for room in rooms for path in room.rglob("*.py") if reads_docstrings(path.read_text("utf-8"))
    ]
    # The second looks among a function's constants for the code of functions inside it, never at a text.
    allowed = {"plan.py": ("first_line", "__doc__"), "edited.py": ("_globals_read", "co_consts")}
    assert sorted(path.name for path in found) == sorted(allowed)
    for path in found:
        name, reads = allowed[path.name]
        functions = [
            node.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef) and any(reads in ast.unparse(line) for line in node.body)
        ]
        assert functions == [name]
