"""All fifty experiments of the source documents are on the built pages, in their sizes and dtypes."""

import html
import re
import tomllib
from pathlib import Path

import pytest

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.show.numbers import parse_reference, parse_size, resolve
from gpuguide_docs.show.site import Site

ROOT = Path(__file__).parents[2]
SITE = Site(Layout(ROOT))
TABLE = tomllib.loads((ROOT / "tests" / "docs" / "experiments.toml").read_text("utf-8"))["experiment"]


def words(text):
    return " ".join(text.split())


def built_text(page):
    path = ROOT / "docs" / "_build" / "html" / f"{page.docname}.html"
    return words(html.unescape(re.sub(r"<svg.*?</svg>|<[^>]+>", "", path.read_text("utf-8"), flags=re.S)))


def measured(page, row):
    """The number as the page prints it, after a look at its size and dtype."""
    recording = SITE.recording(SITE.state(page.name))
    reference = parse_reference(row["key"])
    if reference.kind == "cell" and "size" in row:
        assert reference.size >= parse_size(row["size"])
    if reference.kind == "cell" and "dtype" in row:
        assert recording.studies[reference.name].dtype == row["dtype"]
    return resolve(reference, recording).text


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['id']}-{row['page']}")
def test_an_experiment_is_on_its_page(row):
    page = SITE.page(row["page"])
    assert words(row["shown"] if "shown" in row else measured(page, row)) in built_text(page)
