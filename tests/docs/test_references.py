"""References: what the role's grammar takes, what it refuses, and what a reference stands for."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.results.records import Fact, Measurement, VariantInfo, Work
from gpuguide.results.results import Results
from gpuguide.results.sample import sample_results
from gpuguide_docs.show.numbers import Reference, measured_on, parse_reference, parse_size, resolve
from study_results import on_starts

RECORDING = SimpleNamespace(
    studies={"sample": sample_results()},
    facts={
        "first_call": Fact("first_call", 0.41, "s", (0.40, 0.41, 0.44), "five fresh processes"),
        "explained": Fact("explained", 1.0194, "share"),
        "sm_count": Fact("sm_count", 132, "1"),
        "name": Fact("name", "NVIDIA H200", "text"),
    },
    provenance=SimpleNamespace(machine="nvidia-h200", gpu="NVIDIA H200", utc_date="2026-11-21T10:00:00Z"),
    provenances=(SimpleNamespace(utc_date="2026-11-21T10:00:00Z"),),
    n_starts=1,
    runs=(),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p:s[cupy, 2**24].time", Reference("p", "cell", "s", "cupy", 2**24, "time")),
        ("s[cupy,4096**2].rate", Reference("", "cell", "s", "cupy", 4096**2, "rate")),
        (" p : s [ a , 10 ] . speedup ( b ) ", Reference("p", "cell", "s", "a", 10, "speedup", "b")),
        ("s[a, 10].work(marks)", Reference("", "cell", "s", "a", 10, "work", work="marks")),
        ("s[a, 10].rate(marks)", Reference("", "cell", "s", "a", 10, "rate", work="marks")),
        ("p:s.crossover(a, b)", Reference("p", "crossover", "s", pair=("a", "b"))),
        (
            "s[a, 10].counter(registers)",
            Reference("", "counter", "s", "a", 10, "counter", counter="registers"),
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
        ("", "page:study[variant, 2**24].time"),
        ("a:b:c", "is not a reference"),
        ("s[cupy].time", "is not a reference"),
        ("s[cupy, 4].tim", "Unknown quantity 'tim'. Did you mean 'time'"),
        ("s[cupy, 4].speedup", "speedup needs a baseline"),
        ("s[cupy, 4].time(numpy)", "time takes no baseline"),
        ("s[cupy, 4].work", "work needs the name of a work"),
        ("s[cupy, n].time", "'n' is not a size"),
        ("s.crossover(a)", "is not a reference"),
        ("s[cupy, 4].counter(register)", "Did you mean 'registers'"),
    ],
)
def test_the_grammar_refuses(text, message):
    with pytest.raises((ArgumentError, UnknownNameError), match=re.escape(message)):
        parse_reference(text)


@pytest.mark.parametrize("text", ["0", "-4", "2**-1", "f()", "4.0", "1/2", ""])
def test_a_size_is_a_small_integer_expression(text):
    assert parse_size("3 * 10**6 + 1") == 3_000_001
    with pytest.raises(ArgumentError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        (
            "sample[numba, 2**20].time",
            "6.0 µs",
            "Numba, time on the GPU; one machine start, 10 samples; 2²⁰ elements",
        ),
        ("sample[numpy, 2**20].time", "900 µs", "NumPy, time on the CPU"),
        ("sample[numba, 2**26].speedup(numpy)", "320×", "one machine start, 5 rounds; 2²⁶"),
        (
            "sample.crossover(numpy, numba)",
            "between 2¹⁰ and 2²⁰ elements",
            "Numba is slower than NumPy at 2¹⁰ and faster at 2²⁰ elements; one machine start",
        ),
        ("first_call", "410 ms", "five fresh processes; one machine start, 3 samples"),
        ("explained", "102 %", "explained"),
        ("sm_count", "132", "sm count"),
        ("name", "NVIDIA H200", "name"),
    ],
)
def test_a_reference_becomes_a_number_with_its_detail(text, shown, said):
    number = resolve(parse_reference(text), RECORDING)
    assert number.text == shown
    assert said in number.detail


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        (
            "work(warp_steps)",
            "27.4 million warp steps",
            "Numba: 27\u202f361\u202f402 warp steps; counted on the host; 2²⁰ elements",
        ),
        ("rate(warp_steps)", "4.6 T warp steps/s", "Numba, time on the GPU; one machine start"),
        ("rate(few)", "500 M few/s", "10 samples; 2²⁰ elements"),
        ("gain(warp_steps)", "2.0×", "warp steps of NumPy / Numba; counted on the host"),
        ("share(few)", "50 %", "Numba, share of the most few per second that the GPU can do"),
    ],
)
def test_declared_work_is_named_beside_its_number(text, shown, said):
    study = sample_results()
    counted = {"numba": (Work("warp_steps", 27_361_402), Work("few", 3000, 1e9)), "numpy": ()}
    counted["numpy"] = (Work("warp_steps", 54_722_804),)
    variants = tuple(replace(info, device="gpu", clock="device") for info in study.variants)
    cells = tuple(replace(each, clock="device", work=counted[each.variant]) for each in study.measurements)
    given = SimpleNamespace(
        **vars(RECORDING) | {"studies": {"sample": replace(study, variants=variants, measurements=cells)}}
    )
    number = resolve(parse_reference(f"sample[numba, 2**20].{text}"), given)
    assert number.text == shown
    assert said in number.detail


def several(study, *factors, facts=()):
    """The recording on as many machine starts, with one fact in each."""
    runs = [Fact("first_call", value, "s", (value,)) for value in facts]
    over = [(f"start {i}", fact) for i, fact in enumerate(runs)]
    given = {
        "studies": {"sample": on_starts(study, *factors)},
        "facts": {"first_call": Fact.over_starts(over)} if facts else {},
        "n_starts": len(factors),
        "runs": factors[1:],
    }
    return SimpleNamespace(**{**vars(RECORDING), **given})


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        (
            "sample[numba, 2**20].time",
            "6.6 µs",
            "3 machine starts, 30 samples; another is expected between 5.66 µs and 7.69 µs; 2²⁰ elements",
        ),
        ("sample[numba, 2**20].speedup(numpy)", "150×", "3 machine starts, 15 rounds; another is expected"),
        (
            "first_call",
            "410 ms",
            "3 machine starts, 3 samples; another is expected between 378 ms and 445 ms",
        ),
        ("sample.crossover(numpy, numba)", "between 2¹⁰", "3 machine starts, the same in all 3 runs"),
    ],
)
def test_over_three_starts_a_number_says_where_the_next_is_expected(text, shown, said):
    recording = several(sample_results(), 1.05, 1.1, 1.15, facts=(0.40, 0.42, 0.41))
    number = resolve(parse_reference(text), recording)
    assert number.text.startswith(shown)
    assert said in number.detail
    assert "95 %" not in number.detail


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
    recording = SimpleNamespace(**{**vars(RECORDING), "studies": {"s": study}, "n_starts": 3, "runs": (1, 2)})
    number = resolve(parse_reference("s[a, 8].time"), recording)
    assert number.text == "213 µs"
    assert number.detail.startswith(
        "A, time on the GPU; 3 machine starts, 12 samples; another is expected between 212 µs and 214 µs; "
        "8 elements; a span that includes the host's time, because the host could not keep the GPU busy "
        "(in 1 of 3 runs)"
    )
    assert number.note == "213 µs (212 µs to 214 µs); 8 elements; NVIDIA H200"
    ratio = resolve(parse_reference("s[a, 8].speedup(b)"), recording)
    assert "3 machine starts, 12 rounds" in ratio.detail
    assert "keep the GPU busy (in 1 of 3 runs); B: two modes" in ratio.detail


def test_two_starts_give_no_range():
    recording = several(sample_results(), 1.0, 1.5, facts=(0.4, 0.6))
    for text in ("sample[numba, 2**20].time", "first_call"):
        detail = resolve(parse_reference(text), recording).detail
        assert "two machine starts" in detail
        assert "expected" not in detail


def test_a_crossover_that_moved_says_in_how_many_runs_it_is_the_same():
    """In the newest run the GPU is ten times slower, and overtakes at the next size."""
    recording = several(sample_results(), 1.0, 1.0, 1.0)
    study = recording.studies["sample"]
    slow = [
        replace(each, samples_ns=tuple(200 * ns for ns in each.samples_ns))
        if each.variant == "numba"
        else each
        for each in study.measurements
    ]
    recording.studies["sample"] = replace(study, measurements=tuple(slow))
    number = resolve(parse_reference("sample.crossover(numpy, numba)"), recording)
    assert number.text == "between 2¹⁰ and 2²⁰ elements"
    assert "the same in 2 of 3 runs" in number.detail


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sample[numba, 2**20].speedup(nunpy)", "'nunpy'. Did you mean 'numpy'"),
        ("sample.crossover(numpy, nmba)", "Did you mean 'numba'"),
        ("sample.crossover(numba, numpy)", "never overtakes 'numba' for good"),
    ],
)
def test_what_is_compared_must_be_there(text, message):
    with pytest.raises(UnknownNameError, match=re.escape(message)):
        resolve(parse_reference(text), RECORDING)


def made_on(n_starts=1, days=("2026-01-02",), **provenance):
    told = {
        "gpu": "none",
        "cpu": "Some(R) CPU",
        "machine": "a",
        "threads": None,
    }
    runs = [SimpleNamespace(**{**told, "utc_date": f"{day}T00:00:00Z", **provenance}) for day in days]
    return SimpleNamespace(provenance=runs[-1], provenances=runs, n_starts=n_starts, runs=runs[:-1])


@pytest.mark.parametrize(
    ("recording", "options", "words"),
    [
        (RECORDING, {}, "NVIDIA H200, one machine start, 21 November 2026"),
        (RECORDING, {"starts": False}, "NVIDIA H200, 21 November 2026"),
        (made_on(), {"starts": False}, "Some CPU, 2 January 2026"),
        (
            made_on(3, days=("2026-01-02",) * 3, gpu="Big"),
            {},
            "Big, 3 machine starts of one day, latest on 2 January 2026",
        ),
        (
            made_on(3, days=("2026-01-01", "2026-01-01", "2026-01-02"), gpu="Big"),
            {},
            "Big, 3 machine starts on 2 days, latest on 2 January 2026",
        ),
        (made_on(gpu="Big", machine="big-x4"), {"starts": False}, "4 Big, 2 January 2026"),
        (
            made_on(gpu="Big", threads=16),
            {"gpu": False},
            "Some CPU with 16 threads, one machine start, 2 Jan",
        ),
    ],
)
def test_a_recording_says_where_and_when_it_was_made(recording, options, words):
    assert measured_on(recording, **options).startswith(words)
