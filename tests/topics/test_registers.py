"""The product of layers: what must come out, what is stored in the loop, what the compiler makes of it."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.topics.registers import kernels, layers
from gpuguide.topics.registers import study as registers
from gpuguide.topics.registers.layers import EXACT, FINE

SOURCES = ("as_is", "volatile", "restrict", "one_load", "eighth")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """Layers of 5 x 7."""
    for module in (layers, registers):
        monkeypatch.setattr(module, "layer_shape", lambda: (5, 7))
    layers.held.release()
    yield 5, 7
    layers.held.release()


# Layers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 16, 17, 333])
@pytest.mark.parametrize("steps", [FINE, EXACT])
def test_the_sum_of_the_exponents_is_the_product(n: int, steps: int, small: Any) -> None:
    x = layers.held(n, steps)
    assert x.shape == (n, 5, 7)
    right = layers.product_reference(n, steps)
    if steps == EXACT:
        assert (np.prod(x, axis=0) == right).all()
    else:
        assert np.allclose(np.prod(x, axis=0), right, rtol=2e-16 * (n + 1), atol=0)


def test_every_factor_changes_the_product_and_none_is_far_from_one(small: Any) -> None:
    """So a lost factor shows in the product, and no product comes near zero or overflows."""
    x = layers.factors(0, 100_000, FINE)
    assert 4e-5 > np.abs(x - 1).min() > 1e-5
    assert 0.978 < x.min() < 0.979
    assert 1.021 < x.max() < 1.022
    exact = layers.factors(0, 100_000, EXACT)
    assert sorted(set(exact.tolist())) == [0.5, 1.0, 2.0]
    products = layers.product_reference(4096, FINE)
    assert 1e-3 < products.min() < products.max() < 1e3


def test_what_lies_behind_the_last_layer_would_spoil_the_product(small: Any) -> None:
    x = layers.held(3, FINE)
    assert np.isnan(x.base[x.size :]).all()
    assert x.base.size == x.size + 35


def test_layers_are_made_once_and_only_the_last_ones_are_kept(small: Any) -> None:
    first = layers.held(3, FINE)
    assert layers.held(3, FINE) is first
    assert layers.held(3, EXACT) is not first
    assert layers.held(3, FINE) is not first


def test_the_gpu_s_factors_are_made_by_the_same_rule() -> None:
    """The constants of the kernel that fills the layers are those of the host."""
    for constant in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93):
        assert f"0x{constant:X}ULL" in layers.FILL
    # C++ cuts a quotient off, as the host's rule does for both signs.
    assert layers.exponents(0, 1000, EXACT).tolist() == [
        int(e / 512) for e in layers.exponents(0, 1000, FINE).tolist()
    ]


# Stores -----------------------------------------------------------------------------------------------------


def test_stores_alone_are_checked(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last number stored is that of the last turn."""
    monkeypatch.setattr(registers, "cp", np)
    numbers: list[int] = []

    class Kernel:
        def on(self, grid: Any, block: Any, arguments: Any) -> Callable[[], None]:
            return lambda: arguments[0].fill(numbers.pop())

    monkeypatch.setattr(registers, "raw_kernel", lambda source, name: Kernel())
    numbers += [8, 9, 9]
    registers.stores_alone(10)()
    with pytest.raises(MismatchError, match="not everywhere that of the last turn"):
        registers.stores_alone(10)


def test_stores_are_counted_as_the_kernels_make_them(small: Any) -> None:
    """One before the loop, and one in each of its turns; or one at the end."""
    assert (registers.stores(10), registers.one_store(10)) == (11 * 35, 35)
    counted = {
        variant.name: variant.counted(10, np.dtype("f8"), None)[0].count
        for variant in registers.product.variants
        if variant.work
    }
    each_time = {"as_is", "cpp", "volatile"}
    assert {name for name, n in counted.items() if n == 11 * 35} == each_time
    assert counted["eighth"] == 3 * 35  # after the first and the ninth factor, and at the end
    once = {"in_register", "one_index", "fewer_registers", "pairs", "one_load", "restrict"}
    assert {name for name, n in counted.items() if n == 35} == once


# What the compiler makes of it ------------------------------------------------------------------------------


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


# A check that is void ---------------------------------------------------------------------------------------


def test_products_of_equal_layers_from_zero_to_one_say_nothing() -> None:
    zero, small = registers.void_check()
    assert 0.8 < zero < 0.86
    assert small > 0.99


@pytest.mark.gpu
def test_factors_on_the_gpu_are_those_of_the_host() -> None:
    for steps in (FINE, EXACT):
        x = layers.held(3, steps).get().reshape(-1)
        host = layers.factors(0, x.size, steps)
        assert (x == host).all() if steps == EXACT else np.allclose(x, host, rtol=3e-16, atol=0)
    layers.held.release()
