"""References: what the role's grammar takes, what it refuses, and what a reference stands for."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.results.records import Fact, Measurement, VariantInfo
from gpuguide.results.results import Results
from gpuguide.results.sample import sample_results
from gpuguide_docs.show.references import Reference, measured_on, parse_reference, parse_size, resolve

RECORDING = SimpleNamespace(
    studies={"sample": sample_results()},
    facts={
        "first_call": Fact("first_call", 0.41, "s", (0.40, 0.41, 0.44), "five fresh processes"),
        "explained": Fact("explained", 1.0194, "share"),
        "width": Fact("width", 276.4e-6, "s", (276.06e-6, 276.4e-6, 276.61e-6)),
        "fastest": Fact("fastest", 0.03112, "s", (0.03112, 0.0495), "the fastest of two"),
        "sm_count": Fact("sm_count", 132, "1"),
        "name": Fact("name", "NVIDIA H200", "text"),
    },
    provenance=SimpleNamespace(gpu="NVIDIA H200", utc_date="2026-11-21T10:00:00Z"),
    run_id="r1",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p:s[cupy, 2**24].time", Reference("p", "cell", "s", "cupy", 2**24, "time")),
        ("s[cupy,4096**2].rate", Reference("", "cell", "s", "cupy", 4096**2, "rate")),
        (" p : s [ a , 10 ] . speedup ( b ) ", Reference("p", "cell", "s", "a", 10, "speedup", "b")),
        ("p:s.crossover(a, b)", Reference("p", "crossover", "s", pair=("a", "b"))),
        (
            "s.crossover(a, b).faster_at",
            Reference("", "crossover", "s", pair=("a", "b"), side="faster_at"),
        ),
        ("p:first_call", Reference("p", "fact", "first_call")),
        ("first_call", Reference("", "fact", "first_call")),
    ],
)
def test_the_grammar_takes(text, expected):
    assert parse_reference(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a reference: write page:study[variant, 2**24].time"),
        ("a:b:c", "is not a reference"),
        ("s[cupy].time", "is not a reference"),
        ("s[cupy, 4].tim", "Unknown quantity 'tim'. Did you mean 'time'"),
        ("s[cupy, 4].speedup", "speedup needs a baseline"),
        ("s[cupy, 4].time(numpy)", "time takes no baseline"),
        ("s[cupy, n].time", "'n' is not a size"),
        ("s.crossover(a, b).faster", "Did you mean 'faster_at'"),
    ],
)
def test_the_grammar_refuses(text, message):
    with pytest.raises((ArgumentError, UnknownNameError), match=re.escape(message)):
        parse_reference(text)


@pytest.mark.parametrize("text", ["0", "-4", "2**-1", "9**9**9", "f()", "4.0", "True", "1/2", "2**63", ""])
def test_a_size_is_a_small_integer_expression(text):
    with pytest.raises(ArgumentError, match="is not a size"):
        parse_size(text)


def test_sizes_are_computed():
    assert parse_size("32**3") == 32768
    assert parse_size("3 * 10**6 + 1") == 3_000_001


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        ("sample[numba, 2**20].time", "6.0 µs", "Numba, time on the GPU; one machine start"),
        ("sample[numba, 2**20].time", "6.0 µs", "10 samples; 2²⁰ elements; NVIDIA H200, 21 November"),
        ("sample[numpy, 2**20].time", "900 µs", "NumPy, time on the CPU"),
        ("sample[numba, 2**26].speedup(numpy)", "320×", "5 rounds"),
        (
            "sample.crossover(numpy, numba)",
            "between 2¹⁰ and 2²⁰ elements",
            "Numba is slower than NumPy at 2¹⁰",
        ),
        ("sample.crossover(numpy, numba).faster_at", "2²⁰", "faster at 2²⁰ elements"),
        ("first_call", "410 ms", "five fresh processes; one machine start, 3 samples"),
        ("explained", "102 %", "explained; NVIDIA H200"),
        ("width", "280 µs", "width; one machine start, 3 samples"),
        ("fastest", "31 ms", "the fastest of two; one machine start, 2 samples"),
        ("sm_count", "132", "sm count; NVIDIA H200"),
        ("name", "NVIDIA H200", "name; NVIDIA H200"),
    ],
)
def test_a_reference_becomes_a_number_with_its_detail(text, shown, said):
    number = resolve(parse_reference(text), RECORDING)
    assert number.text == shown
    assert said in number.detail
    assert number.run_id == "r1"


def test_a_number_of_three_starts_has_its_range_and_what_must_be_seen_beside_it():
    runs = [
        Results(
            "s",
            "S",
            "elements",
            "float32",
            variants=(VariantInfo("a", "A"), VariantInfo("b", "B")),
            sizes=(8,),
            measurements=(
                Measurement("a", 8, "device", (ns,) * 4, (0, 1, 2, 3), host_bound=ns == 213_000),
                Measurement("b", 8, "device", (2 * ns,) * 4, (0, 1, 2, 3), notes=("two modes",)),
            ),
            start=start,
        )
        for start, ns in (("a", 213_312), ("b", 213_000), ("c", 213_632))
    ]
    study = replace(runs[-1], others=tuple(runs[:-1]))
    recording = SimpleNamespace(**{**vars(RECORDING), "studies": {"s": study}})
    number = resolve(parse_reference("s[a, 8].time"), recording)
    assert number.text == "213 µs"
    assert number.detail.startswith(
        "A, time on the GPU; 3 machine starts, 12 samples; another is expected between 212 µs and 214 µs; "
        "8 elements; host-bound (in 1 of 3 runs); "
    )
    ratio = resolve(parse_reference("s[a, 8].speedup(b)"), recording)
    assert "3 machine starts, 12 rounds" in ratio.detail
    assert "A: host-bound (in 1 of 3 runs); B: two modes;" in ratio.detail


def test_a_fact_of_three_starts_has_its_range():
    fact = Fact.over_starts(
        [(name, Fact("f", value, "s")) for name, value in (("a", 4.0), ("b", 4.2), ("c", 4.1))]
    )
    recording = SimpleNamespace(**{**vars(RECORDING), "facts": {"f": fact}})
    number = resolve(parse_reference("f"), recording)
    assert number.text == "4.1 s"
    assert number.detail.startswith("f; 3 machine starts; another is expected between 3.78 s and 4.45 s; ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sampel[numba, 2**20].time", "Unknown study 'sampel'. Did you mean 'sample'"),
        ("sample[nubma, 2**20].time", "Unknown variant 'nubma'. Did you mean 'numba'"),
        ("sample[numba, 2**21].time", "Unknown size 2097152"),
        ("sample[numba, 2**20].speedup(nunpy)", "Unknown variant 'nunpy'. Did you mean 'numpy'"),
        ("sample.crossover(numpy, nmba)", "Did you mean 'numba'"),
        ("first_cal", "Unknown fact or study 'first_cal'. Did you mean 'first_call'"),
        ("sample.crossover(numba, numpy)", "never overtakes 'numba' for good"),
    ],
)
def test_an_unknown_name_is_told_the_nearest(text, message):
    with pytest.raises(UnknownNameError, match=re.escape(message)):
        resolve(parse_reference(text), RECORDING)


def test_the_day_is_written_out():
    assert measured_on(RECORDING.provenance) == "NVIDIA H200, 21 November 2026"
    without_gpu = SimpleNamespace(
        gpu="none", cpu="Some(R) CPU", machine="a", utc_date="2026-01-02T00:00:00Z", threads=None
    )
    assert measured_on(without_gpu) == "Some CPU, 2 January 2026"


def test_a_page_that_needs_no_gpu_names_the_cpu():
    machine = SimpleNamespace(
        gpu="Big", cpu="Some(R) CPU", machine="a", utc_date="2026-01-02T00:00:00Z", threads=16
    )
    assert measured_on(machine) == "Big, 2 January 2026"
    assert measured_on(machine, gpu=False) == "Some CPU with 16 threads, 2 January 2026"
