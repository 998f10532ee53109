"""Kernels that a reader hands over are checked and timed, and the topic's own stay as they are."""

import functools

import numpy as np
import pytest

from gpuguide.errors import ArgumentError, MismatchError, UnknownNameError
from gpuguide.measure.edited import exchanged, kernels_in
from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study

SOURCE = "one line\nand another"


def double(x, out):
    out[:] = 2 * x


def triple(x, out):
    out[:] = 3 * x


TABLE = {2: double, 3: (triple,)}


@functools.cache
def made():
    return SOURCE, double


def launch(x, out):
    """Say what it does."""
    double(x, out)


def launch_from_table(x, out, times=2):
    TABLE[times](x, out)


def launch_inside(x, out):
    def inside():
        launch(x, out)

    inside()


def launch_what_is_made(x, out, *, source=True):
    made()[1](x, out)


def countdown(n):
    return [double, n] if n == 0 else countdown(n - 1)


def halved(x, out):
    out[:] = x / 2


CALLS = {
    "launcher": launch,
    "table": functools.partial(launch_from_table, times=2),
    "defaults": launch_from_table,
    "inside": launch_inside,
    "made": launch_what_is_made,
    "argument": functools.partial(lambda call, x, out: call(x, out), launch),
}


def result(call):
    out = np.zeros(1)
    call(np.array([8.0]), out)
    return float(out[0])


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_uses_the_new_kernel_and_the_old_call_the_old_one(call):
    (new,) = exchanged([call], {"double": halved})
    assert (result(new), result(call), result(launch)) == (4, 16, 16)


def test_what_does_not_use_the_kernel_is_the_same_as_before():
    new, other = exchanged([launch, triple], {"double": halved})
    assert other is triple
    assert (new.__name__, new.__doc__, new.__module__) == ("launch", "Say what it does.", __name__)


def test_a_function_that_calls_itself_is_no_endless_loop():
    assert list(kernels_in([countdown])) == ["countdown", "double"]
    (new,) = exchanged([countdown], {"double": halved})
    assert new(0)[0] is halved


def test_text_in_another_language_is_exchanged_where_it_is_read():
    (new,) = exchanged([launch_what_is_made], {"SOURCE": "other\nlines"})
    assert new.__globals__["made"]()[0] == "other\nlines"
    assert made()[0] == SOURCE


def test_a_launcher_of_the_reader_s_gets_the_reader_s_kernels_from_the_topic_s_tables():
    def launch_twice(x, out):
        TABLE[2](x, out)
        TABLE[2](out.copy(), out)

    (new,) = exchanged([launch_from_table], {"launch_from_table": launch_twice, "double": halved})
    assert result(new) == 2


def study(**kernels):
    plain = Variant("plain", launch, device="cpu", clock="host")
    inputs = lambda n, dtype, rng, exact: (np.arange(n, dtype=dtype),)  # noqa: E731
    return Study("double", "Double", (plain,), (64,), inputs=inputs, reference=lambda x: 2 * x, **kernels)


def test_a_study_checks_the_kernel_that_it_was_handed():
    assert len(study(kernels={}).check_all()) == 2
    wrong = study(kernels={"double": triple})
    with pytest.raises(MismatchError):
        wrong.with_variant("more", double, device="cpu", clock="host").check_all(variants=["plain"])
    assert wrong.variants[0].note == "Say what it does."


@pytest.mark.parametrize(
    ("kernels", "error", "message"),
    [
        ({"doubel": triple}, UnknownNameError, "Unknown kernel 'doubel'. Did you mean 'double'?"),
        ([triple], ArgumentError, "kernels must be a mapping of names to kernels"),
        ({"double": "text"}, ArgumentError, "'double' must be a kernel or a function; got 'text'"),
        ({"SOURCE": triple}, ArgumentError, r"'SOURCE' must be text in CUDA C\+\+; got <function triple"),
    ],
)
def test_what_does_not_fit_is_named(kernels, error, message):
    with pytest.raises(error, match=message):
        exchanged([launch, launch_what_is_made], kernels)
