"""Guarded buffers: alignment, patterns, guard zones, restoring."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.machine.memory import HOST, Space, is_out_of_memory
from gpuguide.measure.buffers import ALIGNMENT, Buffers, GuardedArray, blocks, first_difference, pattern

DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)


def guarded(shape=(5,), dtype="float32", role="sentinel"):
    return GuardedArray(HOST, shape, np.dtype(dtype), role)


def beside(array, offset_bytes, n_bytes=1):
    """Return the bytes at an offset from the array's first byte, outside of it too."""
    import ctypes

    return (ctypes.c_ubyte * n_bytes).from_address(array.ctypes.data + offset_bytes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (1023,), (3, 5, 7)])
def test_array_is_aligned_contiguous_and_of_the_shape_asked_for(shape, dtype):
    array = guarded(shape, dtype).array
    assert array.shape == shape
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.size == 0 or array.ctypes.data % ALIGNMENT == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("role", ["sentinel", "exact", "random"])
def test_the_byte_before_and_the_byte_after_are_guarded(dtype, role):
    made = guarded((5,), dtype, role)
    made.fill()
    assert made.damage() == ""
    for offset, side in ((-1, "before"), (made.array.nbytes, "after")):
        byte = beside(made.array, offset)
        byte[0] ^= 0xFF
        assert made.damage() == side
        made.repaint()
        assert made.damage() == ""


def test_guard_zones_are_64_kib_on_both_sides_and_longer_for_long_rows():
    small, wide = guarded((4,)), guarded((4, 1 << 16))
    for made, reach in ((small, 1 << 16), (wide, 2 * 4 * (1 << 16))):
        for offset, side in ((-reach, "before"), (made.array.nbytes + reach - 1, "after")):
            beside(made.array, offset)[0] ^= 0xFF
            assert made.damage() == side
            made.repaint()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_sentinel_and_poison_of_floats_are_two_nans_and_infinity(dtype):
    made = guarded((2,), dtype)
    made.fill()
    assert np.isnan(made.array).all()
    bits = [pattern(np.dtype(dtype), role)[1] for role in ("sentinel", "exact", "random")]
    assert len(set(bits)) == 3
    word = pattern(np.dtype(dtype), "exact")[0]
    component = f"f{word.itemsize}"
    assert np.isnan(np.array(bits[1], word).view(component))
    assert np.array(bits[2], word).view(component) == np.inf


def test_poison_of_integers_is_the_largest_then_the_smallest():
    for dtype in ("int8", "int32", "int64", "uint16"):
        word, exact = pattern(np.dtype(dtype), "exact")
        _, random = pattern(np.dtype(dtype), "random")
        assert np.array(exact, word).view(dtype) == np.iinfo(dtype).max
        assert np.array(random, word).view(dtype) == np.iinfo(dtype).min
    made = guarded((2,), "int64")
    made.fill()
    assert (made.array == np.iinfo("int64").min).all()


def test_untouched_until_one_element_is_written():
    made = guarded((3,))
    made.fill()
    assert made.untouched()
    made.array[2] = 0
    assert not made.untouched()


def buffers(space=HOST):
    inputs = np.arange(3, dtype="float32"), 7.5, np.arange(4).reshape(2, 2)
    return Buffers(space, inputs, ((3,), np.dtype("float32")), "exact")


def test_restore_makes_inputs_output_and_zones_whole():
    made = buffers()
    x, scalar, table, out = made.arguments("cupy", with_output=True)
    assert scalar == 7.5
    x[:], table[:], out[:] = 0, 0, 0
    beside(x, -1)[0] ^= 0xFF
    assert made.damage() == "before input 0"
    made.restore()
    assert x.tolist() == [0, 1, 2]
    assert table.tolist() == [[0, 1], [2, 3]]
    assert np.isnan(out).all()
    assert made.damage() == ""


def test_reset_restores_the_first_array_only():
    made = buffers()
    x, _, table, _ = made.arguments("host", with_output=True)
    x[:], table[:] = 9, 9
    made.reset()
    assert x.tolist() == [0, 1, 2]
    assert (table == 9).all()


def test_the_given_inputs_are_never_the_arrays_that_variants_get():
    given = np.arange(3, dtype="float32")
    made = Buffers(HOST, (given,), None, "exact")
    made.arguments("host", with_output=False)[0][:] = 9
    assert given.tolist() == [0, 1, 2]


def test_a_changed_input_is_named_by_position_and_index():
    made = buffers()
    assert made.changed_input() is None
    made.arguments("host", with_output=False)[2][1, 0] = 99
    assert made.changed_input() == (2, 2)
    made.arguments("host", with_output=False)[0][1] = 99
    assert made.changed_input() == (0, 1)
    assert made.changed_input(but_first=True) == (2, 2)


def test_nan_inputs_count_as_unchanged_and_complex_indices_are_right():
    made = Buffers(HOST, (np.array([np.nan, 1]), np.array([1j, 2j, 3j])), None, "random")
    assert made.changed_input() is None
    made.arguments("host", with_output=False)[1][2] = 0
    assert made.changed_input() == (1, 2)


def test_numba_views_are_made_once():
    wrapped = []
    space = Space("device", np, lambda array: wrapped.append(array) or ("view", id(array)))
    made = buffers(space)
    first = made.arguments("numba", with_output=True)
    second = made.arguments("numba", with_output=True)
    assert len(wrapped) == 3
    assert all(a is b for a, b in zip(first, second, strict=True))
    assert first[0][0] == "view"
    assert len(made.arguments("numba", with_output=False)) == 3


def test_arrays_without_dimension_and_of_other_order_are_taken():
    table = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    made = Buffers(HOST, (np.array(5.0), table), None, "exact")
    scalar, copied = made.arguments("host", with_output=False)
    assert scalar.shape == ()
    assert scalar == 5
    assert copied.tolist() == table.tolist()
    assert made.changed_input() is None
    scalar[...] = 6
    assert made.changed_input() == (0, 0)


def test_blocks_cover_a_length_and_first_difference_finds_the_place():
    assert [part.stop for part in blocks(10, block=4)] == [4, 8, 10]
    assert list(blocks(0)) == []
    a = np.zeros(1000)
    b = a.copy()
    assert first_difference(a, b) is None
    b[999] = 1
    assert first_difference(a, b) == 999


def test_out_of_memory_is_known_by_type_and_by_text():
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("cudaErrorMemoryAllocation: out of memory"))
    assert is_out_of_memory(RuntimeError("CUFFT_ALLOC_FAILED"))
    assert not is_out_of_memory(RuntimeError("cudaErrorIllegalAddress"))


def test_buffers_take_their_memory_from_where_the_space_allocates_it():
    asked = []
    pinned = Space("pinned", np, allocate=lambda n: asked.append(n) or np.empty(n, np.uint8))
    x = np.arange(4, dtype=np.float32)
    made = Buffers(pinned, (x,), ((4,), x.dtype), "exact")
    assert len(asked) == 2
    assert min(asked) > 2 * 2**16
    assert made.pristine[0] is x  # only what a variant is called with is pinned
    assert (made.arguments("pinned", with_output=True)[0] == x).all()
