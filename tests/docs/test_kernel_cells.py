"""Shown definitions as cells of a download: where they stand, under which names, and who is handed them."""

import ast
import sys

import pytest

from gpuguide import topics
from gpuguide_docs.downloads.kernel_cells import KernelCells
from gpuguide_docs.downloads.markdown import ExportError
from gpuguide_docs.show.module_source import ModuleSource

TOY = '''"""A toy topic."""

from types import SimpleNamespace

from gpuguide.measure.edited import exchanged

SCALE = {scale}


def kernel(x):
    """Scale."""
    SCALED = SCALE * x
    return SCALED


TABLE = {{1: kernel}}


def launcher(x):
    """Launch."""
    return TABLE[1](x)


def study(kernels=None):
    """Return what is checked and timed."""
    (call,) = exchanged([launcher], kernels or {{}})
    return SimpleNamespace(variants=[SimpleNamespace(call=call)])


def old_study():
    """Take no kernels."""
    return study()
'''
PAGE = """import numpy as np
from gpuguide.topics.twins import left
from gpuguide.topics.twins.right import kernel, study

numbers = left.study().make_inputs(2, exact=False)
both = left.study().variants[0].call(1), study().variants[0].call(left.SCALE)
alone = left.kernel(2)
"""


@pytest.fixture
def make_topic(tmp_path, monkeypatch):
    """A function that writes the modules of a topic, which can be imported, and gives their sources."""
    names = []

    def make(topic, **modules):
        folder = tmp_path / "gpuguide" / "topics" / topic
        folder.mkdir(parents=True)
        for name, text in {"__init__": "", **modules}.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(topics, "__path__", [*topics.__path__, str(folder.parent)])
        names.extend(f"gpuguide.topics.{topic}{end}" for end in ("", *(f".{name}" for name in modules)))
        return [ModuleSource(tmp_path, f"gpuguide.topics.{topic}.{name}") for name in modules]

    yield make
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def twins(make_topic):
    """Cells that show the kernels of two modules with the same names; run as the cells of a notebook."""
    sources = make_topic("twins", left=TOY.format(scale=2), right=TOY.format(scale=30))
    cells = KernelCells([(source, ["kernel"], False) for source in sources])
    shown = [cell for source in sources for cell in cells.shown(source, ["kernel"])[0]]
    return cells, shown


def run_cells(*cells):
    namespace = {"__name__": "reader"}
    for cell in cells:
        exec(cell, namespace)
    return namespace


def one_cell(cells, code):
    """A cell of the page that needs nothing shown further down."""
    (made,) = cells.page_cells(code)
    return made


def test_the_studies_of_a_page_are_handed_the_cells_above(twins):
    cells, shown = twins
    page = one_cell(cells, PAGE.replace("numbers =", "numbers = 3 #"))
    note = (
        "# The study checks and times what it is handed here, with all that you change in the cells above.\n"
    )
    left, right = (f'kernels={{\n    "kernel": {name},\n}}' for name in ("kernel", "kernel_of_right"))
    assert f"{note}both = left.study({left}).variants[0].call(1), study({right})" in page
    assert page.count(note) == 1
    assert note not in one_cell(cells, "again = left.study()\n")
    assert run_cells(*shown, page)["both"] == (2, 60)


@pytest.mark.parametrize(
    ("place", "old", "new", "both"),
    [(0, "SCALE * x", "SCALE + x", (3, 60)), (1, "_of_right * x", "_of_right + x", (2, 32))],
)
def test_an_edited_kernel_is_the_one_that_the_study_times(twins, place, old, new, both):
    """Constants and kernels of the same name stay those of their module, and no module is changed."""
    cells, shown = twins
    page = one_cell(cells, PAGE.replace("numbers =", "numbers = 3 #"))
    assert old in shown[place]
    shown[place] = shown[place].replace(old, new)
    assert run_cells(*shown, page)["both"] == both
    left, right = (sys.modules[f"gpuguide.topics.twins.{name}"] for name in ("left", "right"))
    assert (left.launcher(1), right.launcher(2)) == (2, 60)


def test_a_name_that_two_modules_have_is_told_apart(twins):
    _, (_, right) = twins
    assert "from gpuguide.topics.twins.right import SCALE as SCALE_of_right" in right
    assert "def kernel_of_right(x):" in right
    assert "SCALED = SCALE_of_right * x" in right


def test_what_a_cell_above_defines_is_not_taken_from_its_module(twins):
    cells, _ = twins
    page = one_cell(cells, PAGE.replace("import kernel, study", "import kernel, launcher, study"))
    assert "alone = kernel(2)" in page
    assert "from gpuguide.topics.twins.right import launcher, study\n" in page
    assert one_cell(cells, "[kernel(2) for _ in range(3)]\n") == "[kernel_of_right(2) for _ in range(3)]\n"
    more = one_cell(cells, "from gpuguide.topics.twins.left import kernel, launcher\n\nlauncher(1)\n")
    assert more == "from gpuguide.topics.twins.left import launcher\n\nlauncher(1)\n"
    assert one_cell(cells, "from gpuguide.topics.twins.left import kernel\nkernel(1)\n") == "kernel(1)\n"


def test_a_study_that_is_asked_for_its_numbers_alone_is_handed_nothing(twins):
    cells, _ = twins
    assert "numbers = left.study().make_inputs(2, exact=False)" in one_cell(cells, PAGE)


def test_what_is_there_already_stays(twins):
    cells, _ = twins
    one_cell(cells, "from gpuguide.topics.twins.left import study as twin\n")
    page = one_cell(cells, "größe = twin(kernels=None, sizes=(3,)).run()\n").splitlines()
    assert page[1:] == [
        "größe = twin(kernels=None, sizes=(3,), kernels={",
        '    "kernel": kernel,',
        "}).run()",
    ]


def test_a_study_that_takes_no_kernels_is_an_error(twins):
    cells, _ = twins
    with pytest.raises(
        ExportError, match=r"left.old_study must take kernels=None .* own kernel can be timed"
    ):
        one_cell(cells, "from gpuguide.topics.twins import left\n\nleft.old_study().run()\n")


KERNELS = '''"""Kernels."""

SCALE = 2


def grown(x):
    return SCALE * x


def first(x):
    """The first rung."""
    return x + 1


def second(x):
    return grown(x) + 1


def third(x):
    return grown(grown(x))


def never(x):
    return x
'''
STUDY = '''"""A study of three rungs."""

from types import SimpleNamespace

from gpuguide.measure.edited import exchanged
from gpuguide.topics.ladder.kernels import first, second, third


def formula(x: float) -> float:
    """Work it out as it is written."""
    return x - 1


def steps(n):
    return _half(n)


def _half(n):
    return n // 2


def launch_first(x):
    return first(x)


def launch_second(x):
    return second(x)


def launch_third(x):
    return third(x)


def _made(calls, kernels):
    variants = [SimpleNamespace(call=call) for call in exchanged(calls, kernels or {})]
    return SimpleNamespace(variants=variants, run=lambda: [each.call(10) for each in variants])


def study(kernels=None):
    return _made([formula, launch_first, launch_second], kernels)


def long_study(kernels=None):
    return _made([launch_third], kernels)
'''
BARE = """def formula(x):
    return x - 1


def first(x):
    return x + 1


print(first(1))
"""
RECORD = """import gpuguide as gg
from gpuguide.topics.ladder import study as ladder
from gpuguide.topics.ladder.kernels import SCALE, second, third
from gpuguide.topics.ladder.study import steps

results = ladder.study().run()
long = ladder.long_study().run()
counted = steps(8)
"""
LAUNCHES = ("again = second(SCALE)\n", "last = third(1)\n")


@pytest.fixture
def lesson(make_topic):
    """A page with its studies above its rungs: its sources, and a function that makes its cells."""
    kernels, study = make_topic("ladder", kernels=KERNELS, study=STUDY)
    rungs = (["SCALE", "grown", "second"], ["third"])
    shown = [(kernels, names, False) for names in rungs]
    shown += [(study, ["steps"], True), (kernels, ["never"], False)]

    def make(bare=BARE, record=RECORD):
        cells = KernelCells(shown, [bare, record, *LAUNCHES], [kernels, study])
        return cells, [cells.page_cells(code) for code in (bare, record)]

    return kernels, study, make


def test_kernels_that_a_study_uses_stand_above_it_in_the_place_of_their_import(lesson):
    _, _, make = lesson
    _, (bare, (kernels, record)) = make()
    assert bare == [BARE]
    assert kernels.startswith("# The sections below explain these definitions.")
    names = [getattr(each, "name", "SCALE") for each in ast.parse(kernels).body]
    assert names == ["SCALE", "grown", "second", "third"]
    assert "ladder.kernels import" not in record
    assert "from gpuguide.topics.ladder.study import steps\n" in record


def test_each_study_is_handed_all_that_it_uses_and_that_stands_above(lesson):
    _, _, make = lesson
    _, (bare, (kernels, record)) = make()
    handed = {
        ast.unparse(node.func): ast.unparse(node.keywords[0].value)
        for node in ast.walk(ast.parse(record))
        if isinstance(node, ast.Call) and node.keywords
    }
    assert handed == {
        "ladder.study": "{'formula': formula, 'first': first, 'grown': grown, 'second': second}",
        "ladder.long_study": "{'grown': grown, 'third': third}",
    }
    page = run_cells(*bare, kernels, record, *LAUNCHES)
    assert page["results"] == [9, 11, 21]
    assert (page["long"], page["counted"], page["again"], page["last"]) == ([40], 4, 5, 4)


@pytest.mark.parametrize(
    ("old", "new", "results", "long"),
    [
        ("return x + 1", "return x + 5", [9, 15, 21], [40]),
        ("return x - 1", "return x - 5", [5, 11, 21], [40]),
        ("SCALE * x", "SCALE + x", [9, 11, 13], [14]),
        ("SCALE = 2", "SCALE = 3", [9, 11, 31], [90]),
    ],
)
def test_an_edit_of_a_cell_reaches_every_study_below_it(lesson, old, new, results, long):
    """A kernel of the bare cell, what another kernel reads, and a constant."""
    _, _, make = lesson
    _, (bare, above) = make()
    cells = "\n".join([*bare, *above])
    assert cells.count(old) == 1
    page = run_cells(cells.replace(old, new))
    assert (page["results"], page["long"]) == (results, long)


def test_a_rung_below_does_not_define_its_kernel_again(lesson):
    kernels, _, make = lesson
    cells, _ = make()
    names = ["SCALE", "grown", "second"]
    assert cells.shown(kernels, names) == ([], names)
    assert cells.page_cells(LAUNCHES[0]) == [LAUNCHES[0]]
    assert cells.shown(kernels, ["first"]) == ([], []), "the page's own cell has it"


def test_what_nothing_uses_and_what_is_folded_as_evidence_is_only_read(lesson):
    kernels, study, make = lesson
    cells, _ = make()
    assert cells.shown(kernels, ["never"]) == ([], ["never"])
    assert cells.shown(study, ["steps"]) == ([], ["steps"])
    assert not cells.is_defined(kernels, "never")
    assert cells.is_defined(kernels, "grown")


def test_kernels_stand_where_the_page_shows_them_if_its_study_comes_later(lesson):
    kernels, _, make = lesson
    imports, *_ = RECORD.partition("\n\n")
    cells, (_, (record,)) = make(record=f"{imports}\n")
    assert "kernels" not in record
    (shown,), read = cells.shown(kernels, ["SCALE", "grown", "second"])
    assert shown.startswith("SCALE = 2\n\n\ndef grown(x)")
    assert read == []
    assert cells.page_cells(LAUNCHES[0]) == [LAUNCHES[0]]
    (third,), _ = cells.shown(kernels, ["third"])
    assert third.startswith("def third"), "what it reads is defined above"
    assert '"third": third' in cells.page_cells("long = ladder.long_study().run()\n")[0]


def test_a_cell_that_only_imported_kernels_is_left_out(lesson):
    _, _, make = lesson
    only = "# The kernels\nimport gpuguide as gg\nfrom gpuguide.topics.ladder.kernels import second, third\n"
    _, (_, record) = make(record=only)
    assert record == []
    _, (_, record) = make(record=f"{only}gg.fact(1)\n")
    assert record == ["# The kernels\nimport gpuguide as gg\ngg.fact(1)\n"]


def test_what_a_kernel_reads_is_defined_before_it_wherever_the_page_shows_it(make_topic):
    kernels, study = make_topic("ladder", kernels=KERNELS, study=STUDY)
    cells = KernelCells(
        [(study, ["launch_third"], False), (kernels, ["third"], False), (kernels, ["grown"], True)]
    )
    (above, launcher), _ = cells.shown(study, ["launch_third"])
    assert above == (
        "from gpuguide.topics.ladder.kernels import SCALE\n\n\n"
        "def grown(x):\n    return SCALE * x\n\n\ndef third(x):\n    return grown(grown(x))"
    )
    assert launcher == "def launch_third(x):\n    return third(x)"


def test_another_function_of_the_same_name_is_not_handed_over(lesson):
    _, _, make = lesson
    other = BARE.replace("return x + 1", "return 2 * x")
    _, (_, (_, record)) = make(bare=other)
    assert '"formula": formula' in record
    assert '"first"' not in record
