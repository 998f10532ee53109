"""The product of layers: the reference, and what the compiler keeps in registers."""

from collections.abc import Iterator

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.registers import kernels, layers
from gpuguide.topics.registers import study as registers
from gpuguide.topics.registers.layers import EXACT, FINE


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
@pytest.mark.parametrize(
    ("source", "volatile", "loads", "stores"),
    [
        ("as_is", 0, 5, 6),
        ("volatile", 5, 5, 0),
        ("restrict", 0, 5, 2),
        ("one_load", 0, 1, 1),
        ("eighth", 0, 1, 2),
    ],
)
def test_a_promise_takes_stores_out_of_the_loop(source: str, volatile: int, loads: int, stores: int) -> None:
    """Four turns of the loop and the rest make five; only what is volatile is read again."""
    facts = raw_facts(getattr(kernels, f"{source}_source"), "product")
    assert facts.count("ld.volatile.global") == volatile
    assert (facts.count("ld.global"), facts.count("st.global")) == (loads, stores)
    assert (facts.spills, facts.registers <= 32) == (0, True)


@needs_compilers()
def test_stores_alone_load_nothing() -> None:
    facts = raw_facts(kernels.stores_source, "stores")
    assert (facts.count("ld.global"), facts.count("st.volatile.global")) == (0, 5)


@needs_compilers()
def test_a_pair_is_one_load_of_16_bytes() -> None:
    facts = raw_facts(kernels.pairs_source, "product")
    assert (facts.count("ld.global.v2.f64"), facts.count("ld.global.f64")) == (5, 0)
    assert facts.count("st.global.v2.f64") == 1
    assert facts.registers <= 32


@needs_compilers()
def test_numba_stores_every_product_or_the_last_one_and_one_index_saves_registers() -> None:
    """65 536 registers for 2048 threads are 32 each."""
    from numba import float64

    layers_and_out = (float64[:, :, ::1], float64[:, ::1])
    as_is, two = (numba_facts(each, layers_and_out) for each in (kernels.as_is, kernels.in_register))
    one = numba_facts(kernels.one_index, (float64[:, ::1], float64[::1]))
    assert as_is.count("ld.global") == two.count("ld.global") == one.count("ld.global") == 5
    assert (as_is.count("st.global"), two.count("st.global")) == (6, 1)
    assert one.registers <= 32 < two.registers <= 40


@pytest.mark.gpu
def test_factors_on_the_gpu_are_those_of_the_host() -> None:
    for steps in (FINE, EXACT):
        x = layers.held(3, steps).get().reshape(-1)
        host = layers.factors(0, x.size, steps)
        assert (x == host).all() if steps == EXACT else np.allclose(x, host, rtol=3e-16, atol=0)
    layers.held.release()
