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


def test_a_claim_is_decided_again_with_the_samples_of_its_two_variants_swapped() -> None:
    def fast(results: Results) -> bool:
        return results.speedup("numba", "numpy", 2**26).low > 1

    def always(results: Results) -> bool:
        return results.speedup("numba", "numpy", 2**26).low > 0

    def alone(results: Results) -> bool:
        return results.measurement("numba", 2**26).median_s < 1

    for predicate, swapped in ((fast, False), (always, True), (alone, None)):
        result, _ = decide("Kernels win", sample_results(), predicate)
        assert (result.holds, result.swapped) == (True, swapped)


def test_a_printed_interval_holds_the_printed_figure() -> None:
    figure = Figure("sieve: device time at 10^9", 213.9e-6, 213.7e-6, 214.2e-6, "s")
    assert str(figure) == "sieve: device time at 10^9 214 µs (213.7 µs to 214.2 µs)"
    coarser = replace(figure, value=213.552e-6, low=213.312e-6, high=213.632e-6)
    assert str(coarser).endswith("214 µs (213 µs to 214 µs)")
