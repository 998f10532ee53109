"""Keys and the harness: what makes a page stale, what does not, and in which words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpuguide.errors import ArgumentError, RecordingError
from gpuguide.recordings import harness
from gpuguide.recordings.keys import Key, changes, key_of, recorded_cells, sources_of

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

from gpuguide.topics.primes import study

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
HARNESS = 'version = 3\ndigest = ""\ndecisions = ["3, new: a test"]\n'
FILES = {
    "src/gpuguide/topics/primes/__init__.py": "",
    "src/gpuguide/topics/primes/study.py": '"""A topic."""\nfrom gpuguide.topics import sieves as s\nN = 1\n',
    "src/gpuguide/topics/sieves/kernels.py": 'CHILD = ["-m", "gpuguide.topics.fresh.process"]\n',
    "src/gpuguide/topics/fresh/process.py": "x = 1\n",
    "src/gpuguide/topics/fresh/study.py": "x = 1\n",
    "src/gpuguide/topics/sorting/study.py": "x = 1\n",
    "src/gpuguide/machine/device.py": "PEAK = 66.9e12  # of all\n",
    "src/gpuguide/measure/timing.py": "MIN_SAMPLES = 20\n",
    "src/gpuguide/measure/harness.toml": HARNESS,
    "src/gpuguide/results/records.py": "class Traffic:\n    read: int = 0\n",
    "src/gpuguide/results/units.py": "x = 1\n",
    "docs/_ext/gpuguide_docs/record/execution.py": "def run_cell(cell):\n    return cell\n",
    "docs/_ext/gpuguide_docs/show/card.py": "x = 1\n",
    "examples/first/primes.py": PAGE,
}


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A miniature project with a page; gives the folder that holds `gpuguide`."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    harness.decide(tmp_path / "src", same="a test")
    return tmp_path / "src"


def script(src: Path) -> Path:
    return src.parent / "examples" / "first" / "primes.py"


@pytest.fixture
def recorded(src: Path) -> Key:
    """The key as it was when the page was recorded."""
    return key_of(recorded_cells(PAGE), src)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_recorded_cells_leave_out_text_drawn_cells_and_comments() -> None:
    assert [cell.strip() for cell in recorded_cells(PAGE)] == [
        "import numpy as np  # the first cell",
        "from gpuguide.topics.primes import study",
        "y = 2",
    ]


def test_recorded_cells_are_those_that_the_gallery_sees(src: Path) -> None:
    """Two readers of one format must not drift apart."""
    cells = pytest.importorskip("gpuguide_docs.pages.cells")
    for path in (script(src), *(ROOT / "examples").rglob("*.py")):
        seen = [cell.content for cell in cells.read_cells(path) if cell.kind == "recorded"]
        assert recorded_cells(path.read_text(encoding="utf-8")) == tuple(seen)


def test_sources_are_the_own_topics_and_the_modules_that_these_borrow(src: Path) -> None:
    """Also by `from gpuguide.topics import`, and in another Python that a topic starts."""
    assert sources_of(recorded_cells(PAGE), src) == ("fresh/process.py", "primes", "sieves")
    assert sources_of(["import numpy"], src) == ()


STALE = {
    "a cell": ("examples/first/primes.py", "y = 2", "y = 3", "cell 3 of examples/first/primes.py"),
    "a cell more": ("examples/first/primes.py", "y = 2", "y = 2\n# %%\nz = 1", "cell 4 of .* is new"),
    "its topic": ("src/gpuguide/topics/primes/study.py", "N = 1", "N = 2", "src/gpuguide/topics/primes"),
    "another topic": (
        "src/gpuguide/topics/fresh/process.py",
        "1",
        "2",
        "src/gpuguide/topics/fresh/process.py",
    ),
    "the harness version": ("src/gpuguide/measure/harness.toml", "= 3", "= 4", r"the harness \(version 4\)"),
}
CURRENT = {
    "prose": ("examples/first/primes.py", "More prose", "Other prose"),
    "a drawn cell": ("examples/first/primes.py", "plot_time", "plot_rate"),
    "a docstring": ("src/gpuguide/topics/primes/study.py", "A topic.", "The topic."),
    "a comment": ("examples/first/primes.py", "# the first cell", "# first"),
    "a module that its topics do not borrow": ("src/gpuguide/topics/fresh/study.py", "1", "2"),
    "a topic that it does not use": ("src/gpuguide/topics/sorting/study.py", "1", "2"),
    "the harness, until somebody decides": ("src/gpuguide/measure/timing.py", "20", "2"),
}


@pytest.mark.parametrize("change", STALE)
def test_what_can_change_a_number_makes_a_page_stale(change: str, recorded: Key, src: Path) -> None:
    file, old, new, words = STALE[change]
    edit(src.parent / file, old, new)
    (found,) = changes(recorded, script(src), src)
    assert re.fullmatch(words, found)


@pytest.mark.parametrize("change", CURRENT)
def test_what_cannot_change_a_number_leaves_a_page_current(change: str, recorded: Key, src: Path) -> None:
    file, old, new = CURRENT[change]
    edit(src.parent / file, old, new)
    assert changes(recorded, script(src), src) == ()


def test_a_topic_that_is_gone_or_new_is_named(recorded: Key, src: Path) -> None:
    (src / "gpuguide" / "topics" / "sieves").rename(src / "gpuguide" / "topics" / "sieving")
    edit(src / "gpuguide" / "topics" / "primes" / "study.py", "import sieves", "import sieving")
    assert changes(recorded, script(src), src) == (
        "src/gpuguide/topics/primes",
        "src/gpuguide/topics/sieves is gone",
        "src/gpuguide/topics/sieving is new",
    )


def test_what_does_not_parse_is_named(src: Path) -> None:
    with pytest.raises(ArgumentError, match="the page does not parse"):
        recorded_cells("x = (")
    edit(src / "gpuguide" / "topics" / "primes" / "study.py", "N = 1", "N = (")
    with pytest.raises(ArgumentError, match="does not parse"):
        key_of(recorded_cells(PAGE), src)


# The harness


@pytest.mark.parametrize(
    ("file", "old", "new", "counts"),
    [
        ("src/gpuguide/machine/device.py", "66.9e12", "133.8e12", True),
        ("src/gpuguide/measure/timing.py", "20", "2", True),
        ("src/gpuguide/results/records.py", "read: int = 0", "read: int = 8", True),
        ("docs/_ext/gpuguide_docs/record/execution.py", "return cell", "return cell * 2", True),
        ("src/gpuguide/machine/device.py", "# of all", "# of each", False),
        ("src/gpuguide/results/units.py", "1", "2", False),
        ("docs/_ext/gpuguide_docs/show/card.py", "1", "2", False),
    ],
)
def test_a_change_of_the_harness_asks_for_a_decision(
    file: str, old: str, new: str, counts: bool, src: Path
) -> None:
    assert harness.problem(src) == ""
    edit(src.parent / file, old, new)
    assert ("make harness" in harness.problem(src)) is counts


def test_the_same_numbers_keep_the_version_and_others_raise_it(recorded: Key, src: Path) -> None:
    edit(src / "gpuguide" / "measure" / "timing.py", "20", "10 + 10")
    made = harness.decide(src, same='"sum" of two')
    assert (made.version, made.decisions[-1]) == (3, '3, same: "sum" of two')
    assert harness.read_harness(src) == made
    assert harness.problem(src) == ""
    assert changes(recorded, script(src), src) == ()
    edit(src / "gpuguide" / "measure" / "timing.py", "10 + 10", "10")
    assert harness.decide(src, new="half of the samples").version == 4
    assert changes(recorded, script(src), src) == ("the harness (version 4)",)


@pytest.mark.parametrize("options", [[], ["--same", " "], ["--same", "a", "--new", "b"]])
def test_one_reason_is_needed(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert harness.main(options) == 2
    assert "Say which it is" in capsys.readouterr().out


def test_a_damaged_file_is_named(src: Path) -> None:
    (src / harness.FILE).write_text("version = 3\n")
    with pytest.raises(RecordingError, match=r"harness\.toml"):
        harness.read_harness(src)


def test_the_harness_of_this_tree_is_decided_on() -> None:
    """Where this fails, run `make harness`: see docs/architecture.md."""
    assert harness.problem(ROOT / "src") == ""
