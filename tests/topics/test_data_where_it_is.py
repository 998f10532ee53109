"""What the kernels of the page data_where_it_is alone promise; test_all_topics.py checks what holds for all."""

from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.data_where_it_is.kernels import one_element


@needs_compilers()
def test_the_kernel_reads_once_and_writes_once() -> None:
    from numba import float32

    facts = numba_facts(one_element, (float32[::1], float32[::1]))
    assert (facts.count("ld.global"), facts.count("st.global")) == (1, 1)
