"""What launches cost: the launch that stands for a hundred, and what kernels read and write."""

from collections.abc import Callable

import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.launch_overhead import kernels


def test_a_single_launch_adds_as_often_as_the_hundred(simulator_python: Callable[..., str]) -> None:
    """The loop in the kernel and the number of launches are two numbers that must agree."""
    snippet = """
import numpy as np
from gpuguide.topics.launch_overhead import study
x = np.zeros((3, 5))
study.one_launch(x)
print(np.unique(x) == study.LAUNCHES)
"""
    assert simulator_python(snippet, timeout=120) == "[ True]\n"


@needs_compilers()
def test_both_languages_read_and_write_an_element_once() -> None:
    from numba import float64

    facts = numba_facts(kernels.add_one, (float64[:, ::1],))
    for each in (facts, raw_facts(kernels.add_one_source, "add_one")):
        assert each.spills == 0
        assert (each.count("ld.global"), each.count("st.global")) == (1, 1)


@needs_compilers()
@pytest.mark.parametrize(("name", "n_arrays"), [("one_array", 1), ("three_arrays", 3), ("eight_arrays", 8)])
def test_kernels_read_all_inputs_and_write_once(name: str, n_arrays: int) -> None:
    from numba import float32

    facts = numba_facts(getattr(kernels, name), (float32[::1],) * n_arrays)
    for each in (facts, raw_facts(kernels.arrays_source, name)):
        assert each.spills == 0
        assert (each.count("ld.global"), each.count("st.global")) == (n_arrays - 1, 1)
