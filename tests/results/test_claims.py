"""Claims about sizes that a run does not have: an error in a full run, undecided in a quick one."""

from dataclasses import replace

import pytest

from gpuguide.errors import UnknownNameError
from gpuguide.results.claims import Figure, decide
from gpuguide.results.results import Results
from gpuguide.results.sample import sample_results


def beats(results: Results) -> bool:
    return results.speedup("numba", "numpy", 2**27).low > 1


def test_a_full_run_without_the_size_of_a_claim_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="Unknown size"):
        decide("Numba wins at 2**27", sample_results(), beats)


def test_a_quick_run_may_lack_the_size_of_a_claim() -> None:
    """A preview runs the smallest sizes alone."""
    result, figures = decide("Numba wins at 2**27", replace(sample_results(), quick=True), beats)
    assert result.holds is None
    assert figures == ()


def test_a_printed_interval_holds_the_printed_figure() -> None:
    figure = Figure("sieve: device time at 10^9", 213.9e-6, 213.7e-6, 214.2e-6, "s")
    assert str(figure) == "sieve: device time at 10^9 214 µs (213.7 µs to 214.2 µs)"
    coarser = replace(figure, value=213.552e-6, low=213.312e-6, high=213.632e-6)
    assert str(coarser).endswith("214 µs (213 µs to 214 µs)")
