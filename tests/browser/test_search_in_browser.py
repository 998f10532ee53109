"""Searches the built site in a real browser: what people type or paste leads to the page that answers it."""

import json

import pytest
from chromium import NEEDS_SITE_AND_BROWSER, Reader, served

pytestmark = NEEDS_SITE_AND_BROWSER

#: What readers search for, and the page that answers it.
QUERIES = {
    "why is my gpu code slower than numpy": "start/why_gpu",
    "how many threads per block": "first_kernels/launch_sizes",
    "out of memory cupy": "moving_data/memory_pools",
    "how do I time a kernel": "measuring/how_to_time",
    "libNVVM cannot be found": "symptoms",
    "UNSUPPORTED_PTX_VERSION": "symptoms",
    "CUDA_ERROR_NO_DEVICE": "symptoms",
    "Failure finding libcublas": "symptoms",
    "debug illegal memory access": "symptoms",
    "sum is wrong in float32": "fast_kernels/precision",
    "shared memory matrix multiplication": "fast_kernels/matmul",
    "atomic add histogram": "fast_kernels/atomics",
    "convert scipy code to gpu": "cupy/numpy_to_cupy",
    "pandas": "glossary",
    "deadlock": "first_kernels/primes",
    "multi gpu": "concurrency/several_gpus",
    "google colab": "start/install",
    "pass a cupy array to numba": "concurrency/interop",
    "profile a kernel": "practice/profiling",
    "nsight compute": "practice/profiling",
    "race condition": "practice/debugging",
    "kernel hangs": "practice/debugging",
    "cuda graphs": "concurrency/graphs",
    "numba or cupy": "practice/which_tool",
    "image segmentation": "practice/image",
    "xoroshiro128p": "fast_kernels/random_in_kernels",
    "trace my kernel": "practice/trace",
    "TypingError": "symptoms",
    "WSL": "start/install",
    "get is slow": "symptoms",
    "matmul": "cupy/linear_algebra",
    "pinned": "moving_data/transfers",
    "sort": "cupy/sort_search",
    "divergence": "first_kernels/divergence",
    "why is the first call slow": "cupy/first_call",
    "random numbers on gpu": "cupy/random_numbers",
    "is cupy faster than numpy": "cupy/numpy_to_cupy",
    "install cupy": "start/install",
    "compile time": "compiled_cpu/compile_cost",
    "overlap copies": "moving_data/overlap",
    "memory bandwidth": "measuring/know_your_gpu",
    "Unsupported .version": "symptoms",
    # By the parts of a name.
    "threads_per_block": "first_kernels/launch_sizes",
    "threadIdx.x": "first_kernels/grids_2d_3d",
    # No page has all of its words.
    "SomebodysError: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected": "symptoms",
}

SEARCH = "QUERIES.map((query) => Search._performSearch(...Search._parseQuery(query)).reverse())"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """For each query the pages found, best first, each with its anchor."""
    queries = [*QUERIES, "plot_time", "warp", "ECC"]
    with served() as address, Reader(tmp_path_factory.mktemp("profile")) as reader:
        reader.open(f"{address}/search.html")
        results = reader.run(SEARCH.replace("QUERIES", json.dumps(queries)))
    return {
        query: [(page, anchor) for page, _, anchor, *_ in hits]
        for query, hits in zip(queries, results, strict=True)
    }


@pytest.mark.parametrize(("query", "page"), QUERIES.items())
def test_the_page_that_answers_is_among_the_first_three(found, query, page):
    assert page in [hit.removeprefix("gallery/") for hit, _ in found[query][:3]]


@pytest.mark.parametrize(
    "query",
    ["shared memory matrix multiplication", "atomic add histogram", "sum is wrong in float32"],
)
def test_the_lesson_on_it_comes_first(found, query):
    assert QUERIES[query] == found[query][0][0].removeprefix("gallery/")


def test_pages_come_before_the_reference(found):
    for query in QUERIES:
        reference = [page.startswith("api/") for page, _ in found[query]]
        assert reference == sorted(reference), query


def test_the_name_of_a_function_leads_to_its_reference(found):
    assert found["plot_time"][0] == ("api/generated/gpuguide.plot_time", "#gpuguide.plot_time")


def test_a_word_of_the_glossary_leads_to_its_entry(found):
    assert found["warp"][0] == ("glossary", "#term-warp")
    assert found["warp"][1][0].startswith(("gallery/", "start/"))


def test_the_cards_of_all_pages_are_not_searched(found):
    """Each says whether the GPU's memory corrects errors; the one page found knows an eccentricity."""
    pages = {page for page, _ in found["ECC"]}
    assert {page for page in pages if page.startswith("gallery/")} <= {"gallery/first_kernels/ufuncs"}


def test_a_hit_leads_to_its_section(tmp_path):
    """What is typed finds a section; a click on the hit shows it, and the summary is of that section."""
    with served() as address, Reader(tmp_path) as reader:
        reader.open(f"{address}/search.html?q=WSL")
        summary = reader.run("""
            (async () => {
              const first = () => document.querySelector("ul.search > li:first-child > p.context");
              while (!first()) await new Promise((done) => setTimeout(done, 20));
              return first().textContent;
            })()
        """)
        reader.events = []
        reader.run("document.querySelector('ul.search > li:first-child > a').click()")
        reader.wait_for("Page.loadEventFired")
        heading = reader.run("document.querySelector(':target').querySelector('h2, h3').textContent")
        top = reader.run("document.querySelector(':target').getBoundingClientRect().top")
    assert "WSL" in summary
    assert "WSL" in heading
    assert 0 <= top < 300


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
