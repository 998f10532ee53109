"""Adding one in place: what the compiler makes of the kernels."""

import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.first_kernel import kernels


@needs_compilers()
@pytest.mark.parametrize("name", ["one_thread", "one_block", "by_hand", "grid", "grid_stride"])
def test_kernels_load_as_often_as_they_store(name: str) -> None:
    from numba import float64

    facts = numba_facts(getattr(kernels, name), (float64[::1],))
    assert facts.count("ld.global") == facts.count("st.global") >= 1


@needs_compilers()
def test_cuda_grid_compiles_to_the_same_instructions_as_the_index_by_hand() -> None:
    from numba import float64

    by_hand, grid = (numba_facts(getattr(kernels, name), (float64[::1],)) for name in ("by_hand", "grid"))
    assert (by_hand.registers, by_hand.instructions) == (grid.registers, grid.instructions)
