"""Searches the built site in a real browser: pages come before the reference."""

import json

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, Reader, run_in_browser, served

pytestmark = NEEDS_SITE_AND_BROWSER

#: What readers search for, and the page that answers it.
QUERIES = {
    "matmul": "cupy/linear_algebra",
    "out of memory": "moving_data/memory_pools",
    "pinned": "moving_data/transfers",
    "sort": "cupy/sort_search",
    "divergence": "first_kernels/divergence",
    "how many threads per block": "first_kernels/launch_sizes",
    "why is gpu slower": "start/why_gpu",
    "why is the first call slow": "cupy/first_call",
    "how to time a kernel": "measuring/how_to_time",
    "random numbers on gpu": "cupy/random_numbers",
    "is cupy faster than numpy": "cupy/numpy_to_cupy",
    "install cupy": "start/install",
    "compile time": "compiled_cpu/compile_cost",
    "overlap copies": "moving_data/overlap",
    "memory bandwidth": "measuring/know_your_gpu",
    "multi gpu": "concurrency/several_gpus",
    "google colab": "start/install",
    "deadlock": "first_kernels/primes",
    "CUDA_ERROR_NO_DEVICE": "start/install",
    "Failure finding libcublas": "start/install",
    "Unsupported .version": "start/install",
}

#: No page has all of its words.
WHOLE_MESSAGE = "RuntimeError of somebody: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected zzyzx"

# The search page loads each page that it found for its summary; the list alone is of interest here.
PROBE = """
(async () => {
  const found = {};
  for (const query of QUERIES) {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    await new Promise(done => {
      frame.onload = done;
      frame.src = "/search.html?q=" + encodeURIComponent(query);
    });
    const summary = () => frame.contentDocument.querySelector(".search-summary")?.innerText.trim();
    for (let waited = 0; waited < 100 && !summary(); waited++)
      await new Promise(done => setTimeout(done, 100));
    const links = [...frame.contentDocument.querySelectorAll("ul.search > li > a")];
    found[query] = links.map(link => link.getAttribute("href"));
    frame.remove();
  }
  document.title = JSON.stringify(found);
})();
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    queries = json.dumps([*QUERIES, "plot_time", "warp", WHOLE_MESSAGE, "ECC"])
    return run_in_browser(PROBE.replace("QUERIES", queries), tmp_path_factory.mktemp("profile"))


@pytest.mark.parametrize("query", QUERIES)
def test_the_page_that_answers_is_among_the_first_three(found, query):
    first = [link.partition("#")[0].removeprefix("gallery/") for link in found[query][:3]]
    assert f"{QUERIES[query]}.html" in first


@pytest.mark.parametrize("query", QUERIES)
def test_pages_come_before_the_reference(found, query):
    assert found[query], "nothing was found"
    reference = [link.startswith("api/") for link in found[query]]
    assert reference == sorted(reference)


def test_the_name_of_a_function_leads_to_its_reference(found):
    assert found["plot_time"][0].startswith("api/generated/")


def test_a_word_of_the_glossary_leads_to_its_entry(found):
    assert found["warp"][0] == "glossary.html#term-warp"
    assert found["warp"][1].startswith(("gallery/", "start/"))


def test_an_error_message_finds_the_page_that_has_most_of_its_words(found):
    assert "start/install.html" in [link.partition("#")[0] for link in found[WHOLE_MESSAGE][:3]]


def test_the_cards_of_all_pages_are_not_searched(found):
    """Each says whether the GPU's memory corrects errors; the one page found knows an eccentricity."""
    pages = {link.partition("#")[0] for link in found["ECC"]}
    assert {page for page in pages if page.startswith("gallery/")} <= {"gallery/first_kernels/ufuncs.html"}


@pytest.mark.parametrize("width", [1300, 390])
def test_the_magnifier_lies_beside_what_is_typed(width, tmp_path):
    with served() as address, Reader(tmp_path) as reader:
        reader.look(width)
        reader.open(f"{address}/index.html")
        reader.run("document.querySelector('.search-button__button').click()")
        room = reader.run("""
            (() => {
              const input = [...document.querySelectorAll(".bd-search input")].find(box => box.offsetWidth);
              const icon = input.form.querySelector(".fa-magnifying-glass").getBoundingClientRect();
              const begin = input.getBoundingClientRect().left;
              return begin + parseFloat(getComputedStyle(input).paddingLeft) - icon.right;
            })()
        """)
    assert room > 0


def test_a_summary_has_no_notes_of_numbers(tmp_path):
    with served() as address, Reader(tmp_path) as reader:
        reader.open(f"{address}/search.html")
        text = reader.run("""
            fetch("gallery/first_kernels/first_kernel.html").then(page => page.text())
              .then(html => Search.htmlToText(html, ""))
        """)
    assert "cuda.grid" in text
    assert "another is expected between" not in text
