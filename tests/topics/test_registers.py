"""The product of layers: the reference, and what the compiler keeps in registers."""

from collections.abc import Iterator

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.registers import kernels, layers
from gpuguide.topics.registers import study as registers
from gpuguide.topics.registers.layers import EXACT, FINE

SOURCES = ("as_is", "volatile", "restrict", "one_load", "eighth")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Layers of 5 x 7."""
    for module in (layers, registers):
        monkeypatch.setattr(module, "layer_shape", lambda: (5, 7))
    layers.held.release()
    yield
    layers.held.release()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("n", [0, 1, 17, 333])
@pytest.mark.parametrize("steps", [FINE, EXACT])
def test_the_sum_of_the_exponents_is_the_product(n: int, steps: int) -> None:
    x = layers.held(n, steps)
    assert x.shape == (n, 5, 7)
    right = layers.product_reference(n, steps)
    if steps == EXACT:
        assert (np.prod(x, axis=0) == right).all()
    else:
        assert np.allclose(np.prod(x, axis=0), right, rtol=2e-16 * (n + 1), atol=0)


@needs_compilers()
def test_only_volatile_reads_the_product_again() -> None:
    """Elsewhere each turn has one load, of the factor; four turns and the rest make five."""
    facts = {name: raw_facts(getattr(kernels, f"{name}_source"), "product") for name in SOURCES}
    assert facts["volatile"].count("ld.volatile.global") == 5
    assert facts["volatile"].count("ld.global") == facts["as_is"].count("ld.global") == 5
    for name in ("as_is", "restrict", "one_load", "eighth"):
        assert facts[name].count("ld.volatile") == 0
    assert facts["one_load"].count("ld.global") == facts["eighth"].count("ld.global") == 1


@needs_compilers()
def test_a_promise_takes_the_stores_out_of_the_loop() -> None:
    """One before it, and one after it; as it is, one in each turn."""
    facts = {name: raw_facts(getattr(kernels, f"{name}_source"), "product") for name in SOURCES}
    assert facts["restrict"].count("st.global") == 2
    assert facts["one_load"].count("st.global") == 1
    assert facts["as_is"].count("st.global") == 6
    assert facts["eighth"].count("st.global") == 2
    alone = raw_facts(kernels.stores_source, "stores")
    assert (alone.count("ld.global"), alone.count("st.volatile.global")) == (0, 5)
    assert all(each.spills == 0 and each.registers <= 32 for each in facts.values())


@needs_compilers()
def test_numba_stores_every_product_or_the_last_one() -> None:
    from numba import float64

    signature = (float64[:, :, ::1], float64[:, ::1])
    as_is, in_register = (numba_facts(each, signature) for each in (kernels.as_is, kernels.in_register))
    assert as_is.count("ld.global") == in_register.count("ld.global") == 5
    assert (as_is.count("st.global"), in_register.count("st.global")) == (6, 1)


@needs_compilers()
def test_a_pair_is_one_load_of_16_bytes() -> None:
    facts = raw_facts(kernels.pairs_source, "product")
    assert (facts.count("ld.global.v2.f64"), facts.count("ld.global.f64")) == (5, 0)
    assert facts.count("st.global.v2.f64") == 1
    assert facts.registers <= 32


@needs_compilers()
def test_two_indices_take_more_registers_than_2048_threads_have_and_one_does_not() -> None:
    """65 536 registers for 2048 threads are 32 each."""
    from numba import float64

    two = numba_facts(kernels.in_register, (float64[:, :, ::1], float64[:, ::1]))
    one = numba_facts(kernels.one_index, (float64[:, ::1], float64[::1]))
    assert one.registers <= 32 < two.registers <= 40
    assert one.count("ld.global") == two.count("ld.global") == 5


@pytest.mark.gpu
def test_factors_on_the_gpu_are_those_of_the_host() -> None:
    for steps in (FINE, EXACT):
        x = layers.held(3, steps).get().reshape(-1)
        host = layers.factors(0, x.size, steps)
        assert (x == host).all() if steps == EXACT else np.allclose(x, host, rtol=3e-16, atol=0)
    layers.held.release()
