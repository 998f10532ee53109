"""Errors name the file, the field, and the nearest names."""

import pickle

import pytest

from gpuguide import errors


def test_every_error_is_a_gpuguide_error() -> None:
    classes = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]
    assert classes
    assert all(issubclass(cls, errors.GpuGuideError) for cls in classes)


def test_errors_are_caught_as_the_builtin_ones_too() -> None:
    assert issubclass(errors.ArgumentError, ValueError)
    assert issubclass(errors.UnknownNameError, LookupError)


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        ({}, "broken"),
        ({"file": "run.json"}, "run.json: broken"),
        ({"file": "run.json", "field": "keys"}, "run.json: keys: broken"),
    ],
)
def test_a_recording_error_says_where(kwargs: dict[str, str], text: str) -> None:
    error = errors.RecordingError("broken", **kwargs)
    assert str(error) == text
    assert (error.file, error.field) == (kwargs.get("file", ""), kwargs.get("field", ""))


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name.endswith("Error")])
def test_an_error_comes_back_from_another_process_as_it_was(name: str) -> None:
    """Pages are drawn by several processes; what is raised in one of them is told by the first."""
    kwargs = {"file": "h200/primes/run.json", "field": "keys[1]"} if name == "RecordingError" else {}
    error = getattr(errors, name)("expected a, got b", **kwargs)
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert (str(back), vars(back)) == (str(error), vars(error))


def test_unknown_names_the_nearest() -> None:
    error = errors.unknown("page", "primse", ["primes", "matmul", "prime"])
    assert str(error) == "Unknown page 'primse'. Did you mean 'prime' or 'primes'?"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("sort", "'sort_search'"),
        ("Kernels", "'first_kernel' or 'kernel_families'"),
        ("gpu", "'know_your_gpu'"),
    ],
)
def test_unknown_names_what_holds_a_part_of_the_name(name: str, near: str) -> None:
    known = ["first_kernel", "kernel_families", "know_your_gpu", "primes", "sort_search"]
    assert str(errors.unknown("topic", name, known)).endswith(f"Did you mean {near}?")


@pytest.mark.parametrize(
    ("name", "known", "end"),
    [
        (7, [1000, 2000], "Known: 1000, 2000."),
        ("?", [f"page_{i}" for i in range(20)], "and 8 more."),
        ("x", [], "There is none at all."),
    ],
)
def test_unknown_lists_what_there_is_when_nothing_is_near(name: object, known: list[str], end: str) -> None:
    assert str(errors.unknown("page", name, known)).endswith(end)
