"""Keys: what changes them, what does not, and the words in which a change is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpuguide
from gpuguide.errors import ArgumentError
from gpuguide.recordings import keys
from gpuguide.recordings.canonical import digest
from gpuguide.recordings.keys import Keys, changes, measuring_key, measuring_modules, recorded_cells

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

# %% a heading line
y = 2
#%%

# draw: the table
print(y)
'''
TOPIC = '"""A topic."""\n\nSOURCE = "int i;"\n\ndef study():\n    """Doc."""\n    return 1\n'


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A miniature source tree with a page."""
    topics = tmp_path / "src" / "gpuguide" / "topics"
    topics.mkdir(parents=True)
    (topics / "primes.py").write_text(TOPIC)
    (topics.parent / "timing.py").write_text("x = 1\n")
    (topics.parent / "plotting.py").write_text("x = 1\n")
    (tmp_path / "examples" / "first").mkdir(parents=True)
    (tmp_path / "examples" / "first" / "primes.py").write_text(PAGE)
    return tmp_path / "src"


def script(src: Path) -> Path:
    return src.parent / "examples" / "first" / "primes.py"


@pytest.fixture
def recorded(src: Path) -> Keys:
    """The keys as they were when the page was recorded."""
    names = ["gpuguide.topics.primes.study", "gpuguide.measure.timing", "gpuguide.plotting", "numpy"]
    return measuring_key(recorded_cells(PAGE), names, src)


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


def test_parts_are_the_cells_and_the_measuring_modules(recorded: Keys) -> None:
    assert [name for name, _ in recorded.parts] == [
        "cell 1",
        "cell 2",
        "cell 3",
        "gpuguide.measure.timing",
        "gpuguide.topics.primes.study",
    ]
    assert recorded.parts[1] == ("cell 2", digest("x = 1"))
    assert recorded == Keys.of(recorded.parts)


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
        ("x = 1\n", "", ["measured cell 2 is gone"]),
        ("x = 1\n", "x = 1\n\n# %%\n\nz = 3\n", ["cell 3 of examples/first/primes.py is new"]),
        ("# draw\ngg", "gg", ["cell 3 of examples/first/primes.py is new"]),
        ("x = 1\n", "# draw\nx = 1\n", ["measured cell 2 is gone"]),
    ],
)
def test_changed_cells_are_named(old: str, new: str, words: list[str], recorded: Keys, src: Path) -> None:
    edit(script(src), old, new)
    assert list(changes(recorded, script(src), src)) == words


@pytest.mark.parametrize(
    ("module", "old", "new", "words"),
    [
        ("topics/primes.py", "return 1", "return 2", ["src/gpuguide/topics/primes.py"]),
        ("topics/primes.py", "int i;", "int j;", ["src/gpuguide/topics/primes.py"]),
        ("topics/primes.py", "A topic.", "The topic.", []),
        ("topics/primes.py", "def study():", "def study() -> int:", []),
        ("timing.py", "x = 1", "x = 2", ["src/gpuguide/timing.py"]),
        ("plotting.py", "x = 1", "x = 2", []),
    ],
)
def test_changed_modules_are_named(
    module: str, old: str, new: str, words: list[str], recorded: Keys, src: Path
) -> None:
    edit(src / "gpuguide" / module, old, new)
    assert list(changes(recorded, script(src), src)) == words


def test_a_removed_module_is_named(recorded: Keys, src: Path) -> None:
    (src / "gpuguide" / "timing.py").unlink()
    assert changes(recorded, script(src), src) == ("src/gpuguide/timing.py is gone",)


def test_a_topic_that_became_a_package_is_read(recorded: Keys, src: Path) -> None:
    topic = src / "gpuguide" / "topics" / "primes.py"
    topic.with_suffix("").mkdir()
    topic.rename(topic.with_suffix("") / "__init__.py")
    assert changes(recorded, script(src), src) == ()


def test_order_of_the_cells_counts() -> None:
    assert measuring_key(["x = 1", "y = 2"], []) != measuring_key(["y = 2", "x = 1"], [])


# Data, arithmetic on it, charts, the command line, what reads recordings: none of it changes a sample.
OTHERS = """
    answers canonical catalogue chart_marks claim_replay claims cli codec compilers cpu device doctor
    editing errors facts fields intervals keys limits line_charts metrics packages peaks pending
    plotting progress recording_checks recording_files recording_format recording_parts recordings
    records results results_tables safe_markup safe_svg sample shape_charts study_display style tables
    units
"""


def test_every_module_of_the_package_is_decided_on() -> None:
    """A new module must be put among those that can change a number, or above."""
    package = Path(gpuguide.__file__).parent
    names = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    measuring = {name.removeprefix("gpuguide.") for name in measuring_modules(f"gpuguide.{n}" for n in names)}
    assert names - measuring == set(OTHERS.split())


def test_patterns_name_modules_that_exist() -> None:
    package = Path(gpuguide.__file__).parent
    for pattern in keys.MEASURING_MODULES:
        assert list(package.glob(pattern.replace(".", "/") + ".py")), pattern


def test_a_cell_that_does_not_parse_is_named() -> None:
    with pytest.raises(ArgumentError, match="cell 2 cannot be digested"):
        measuring_key(["x = 1", "x = ("], [])
    with pytest.raises(ArgumentError, match="the page does not parse"):
        recorded_cells("x = (")


def test_a_module_without_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"source of module 'gpuguide\.launch'"):
        measuring_key([], ["gpuguide.machine.launch"], tmp_path)
