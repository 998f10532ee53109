"""Names resolve without running the page, and the same way in every build."""

from __future__ import annotations

from gpuguide.results.sample import sample_results
from gpuguide_docs.record.names import CodeName, page_names, recorded_names, short_module


def test_public_names_are_found_in_the_package():
    assert short_module("gpuguide.measure.study", "Study.run") == "gpuguide"
    assert short_module("gpuguide.topics.toy", "study") == "gpuguide.topics.toy"
    assert short_module("numpy", "ndarray") == "numpy"


def test_an_object_and_its_methods_are_resolved_while_recording():
    found = recorded_names("results.table()\nn = 1", {"results": sample_results(), "n": 1})
    own = "gpuguide.results.results"
    assert CodeName("results.table", own, "Results.table", own, False) in found
    assert not [name for name in found if name.used == "n"], "builtins are noise"


def test_stored_names_come_before_what_imports_tell():
    stored = [CodeName("x.sum", "cupy", "ndarray.sum", "cupy", False), CodeName("gone", "a", "b", "a", False)]
    names = page_names(["import numpy as x\nx.sum()"], stored)
    assert [(each["module"], each["name"]) for each in names["x.sum"]] == [
        ("cupy", "ndarray.sum"),
        ("numpy", "sum"),
    ]
    assert "gone" not in names


def test_a_drawn_cell_may_use_what_no_recorded_cell_did():
    names = page_names(["results.crossover('a', 'b')\ngg.plot_time(results)"], [], ["results"])
    assert names["results.crossover"][0]["name"] == "Results.crossover"
    assert names["gg.plot_time"][0] == {
        "name": "plot_time",
        "module": "gpuguide",
        "module_short": "gpuguide",
        "is_class": False,
        "is_explicit": False,
    }
