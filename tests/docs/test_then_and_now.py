"""Every experiment of the source documents stands on a page and in a row, and no page says its number."""

import html
import re
import tomllib
from pathlib import Path

import pytest

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import read_pages

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "practice" / "then_and_now.md"
BUILT = ROOT / "docs" / "_build" / "html"
#: How many experiments each of the five source documents has.
HELD = {"S0": 7, "S1": 9, "S2": 12, "S3": 10, "S4": 12}
EXPERIMENTS = [f"{source}.{number}" for source, held in HELD.items() for number in range(1, held + 1)]
TABLE = tomllib.loads((Path(__file__).parent / "experiments.toml").read_text("utf-8"))["experiment"]
# With a word around it, for drawings are full of such figures.
_NUMBER = re.compile(r"(?<![\w.])S[0-4]\.\d{1,2}(?!\w)")
READ = [
    *(ROOT / "examples").rglob("*.py"),
    *(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
    *(ROOT / "src" / "gpuguide" / "topics").rglob("*.py"),
    *(
        path
        for path in (ROOT / "src" / "gpuguide" / "exercises" / "pool").rglob("*.*")
        if path.suffix != ".pyc"
    ),
]


def test_every_experiment_is_on_a_page():
    assert {row["id"] for row in TABLE} == set(EXPERIMENTS)


def test_every_experiment_has_a_row():
    tables = re.findall(r"^```{list-table}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    # A row begins with the link to its page; the first row of a table is its header.
    assert [len(re.findall(r"^\* - {doc}`", table, re.M)) for table in tables] == list(HELD.values())
    for table in tables:
        for row in re.split(r"^\* - ", table, flags=re.M)[2:]:
            assert len(re.findall(r"^  - ", row, re.M)) == 2, row


def test_a_row_leads_to_the_page_of_its_experiment():
    names = {page.docname: page.name for page in read_pages(Layout(ROOT))}
    done = {(row["id"], row["page"]) for row in TABLE}
    rows = re.findall(r"^\* - {doc}`[^<`]*<?/([\w/]+)>?`", PAGE.read_text(encoding="utf-8"), re.M)
    for experiment, docname in zip(EXPERIMENTS, rows, strict=True):
        assert (experiment, names[docname]) in done, f"{experiment} is not on {docname}"


def test_no_source_of_a_page_says_the_number_of_an_experiment():
    found = [(path.name, *_NUMBER.findall(path.read_text(encoding="utf-8"))) for path in READ]
    assert [each for each in found if len(each) > 1] == []


@pytest.mark.skipif(not BUILT.is_dir(), reason="the pages are not built: run make html first")
def test_no_built_page_says_the_number_of_an_experiment():
    for path in BUILT.rglob("*.html"):
        words = html.unescape(
            re.sub(r"<svg.*?</svg>|<[^>]+>", " ", path.read_text(encoding="utf-8"), flags=re.S)
        )
        assert not _NUMBER.findall(words), path.relative_to(BUILT)


def test_such_a_number_would_be_found():
    assert _NUMBER.findall("as in S0.1 and S4.12.") == ["S0.1", "S4.12"]
    assert not _NUMBER.findall("sm_90, S3.x, a=S1.1a, 0.S0.1, PS0.1")
