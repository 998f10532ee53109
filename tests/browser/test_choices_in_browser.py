"""Presses the buttons above a chart as readers do: they show one chart at a time."""

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, SITE, Reader, served

pytestmark = NEEDS_SITE_AND_BROWSER

PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.glob("gallery/*/*.html")
    if 'class="gg-choices' in path.read_text(encoding="utf-8")
)
BUTTONS = "document.querySelector('.gg-choices').querySelectorAll('input')"
# The places of the charts that are seen, each with a picture that arrived.
SEEN = """
Promise.all([...document.querySelector(".gg-choices").querySelectorAll(".gg-choice")].map(
  async (chart, place) => {
    const pictures = [...chart.querySelectorAll("img")].filter(image => image.checkVisibility());
    await Promise.all(pictures.map(image => image.decode()));
    return pictures.length === 1 && pictures[0].naturalWidth ? place : null;
  }
)).then(places => places.filter(place => place !== null))
"""


@pytest.fixture(scope="module", params=PAGES)
def reader(request, tmp_path_factory):
    with served() as address, Reader(tmp_path_factory.mktemp("profile")) as opened:
        opened.look(1440)
        opened.open(f"{address}/{request.param}")
        yield opened


def test_three_pages_have_choices():
    assert len(PAGES) == 3


def test_each_button_shows_its_chart_alone(reader):
    n_buttons = reader.run(f"{BUTTONS}.length")
    assert n_buttons > 1
    for place in [*range(n_buttons), 0]:
        reader.run(f"{BUTTONS}[{place}].closest('label').click()")
        assert reader.run(SEEN) == [place]


def test_the_arrow_keys_choose(reader):
    reader.run(f"{BUTTONS}[0].focus()")
    reader.press("ArrowDown")
    assert reader.run(f"document.activeElement === {BUTTONS}[1]")
    assert reader.run(SEEN) == [1]
