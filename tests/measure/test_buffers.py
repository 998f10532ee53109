"""Guarded buffers: alignment, patterns, guard zones, restoring."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from gpuguide.machine.memory import HOST, Space, is_out_of_memory
from gpuguide.measure.buffers import ALIGNMENT, Buffers, GuardedArray, pattern

DTYPES = ("bool", "int8", "uint64", "float16", "float32", "float64", "complex64", "complex128")


def beside(array, offset_bytes):
    """Return the byte at an offset from the array's first one, outside of it too."""
    return (ctypes.c_ubyte * 1).from_address(array.ctypes.data + offset_bytes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("role", ["sentinel", "exact", "random"])
@pytest.mark.parametrize("shape", [(), (1023,), (3, 5, 7)])
def test_every_array_is_aligned_filled_and_guarded_from_byte_to_byte(shape, dtype, role):
    made = GuardedArray(HOST, shape, np.dtype(dtype), role)
    assert (made.array.shape, made.array.dtype) == (shape, dtype)
    assert made.array.flags.c_contiguous
    assert made.array.ctypes.data % ALIGNMENT == 0
    made.fill()
    assert made.untouched()
    assert made.damage() == ""
    if made.array.dtype.kind in "fc":
        assert np.isnan(made.array).all()
    for offset, side in ((-1, "before"), (made.array.nbytes, "after")):
        beside(made.array, offset)[0] ^= 0xFF
        assert made.damage() == side
        made.repaint()
        assert made.damage() == ""
    made.array.reshape(-1)[-1:] = 0
    assert not made.untouched()


FLOAT, INT8, INT64 = (np.nan, np.inf), (127, -128), (2**63 - 1, -(2**63))


@pytest.mark.parametrize(
    ("dtype", "values"),
    [("float16", FLOAT), ("float32", FLOAT), ("float64", FLOAT), ("int8", INT8), ("int64", INT64)],
)
def test_guard_zones_hold_what_spoils_any_sum_or_maximum(dtype, values):
    for role, value in zip(("exact", "random"), values, strict=True):
        word, bits = pattern(np.dtype(dtype), role)
        np.testing.assert_equal(np.array(bits, word).view(dtype)[()], value)
        # One copied over the other would not be seen.
        assert role == "random" or bits != pattern(np.dtype(dtype), "sentinel")[1]


@pytest.mark.parametrize(("shape", "reach"), [((4,), 1 << 16), ((4, 1 << 16), 8 << 16)])
def test_guard_zones_are_64_kib_on_both_sides_and_two_rows_for_long_rows(shape, reach):
    made = GuardedArray(HOST, shape, np.dtype("float32"), "exact")
    for offset, side in ((-reach, "before"), (made.array.nbytes + reach - 1, "after")):
        beside(made.array, offset)[0] ^= 0xFF
        assert made.damage() == side
        made.repaint()


def buffers(space=HOST):
    inputs = np.arange(3, dtype="float32"), 7.5, np.asfortranarray(np.arange(4).reshape(2, 2))
    return Buffers(space, inputs, ((3,), np.dtype("float32")), "exact")


def test_restore_makes_inputs_output_and_zones_whole_and_reset_the_first_input():
    made = buffers()
    x, scalar, table, out = made.arguments("cupy", with_output=True)
    assert scalar == 7.5
    x[:], table[:], out[:] = 9, 9, 9
    beside(x, -1)[0] ^= 0xFF
    assert made.damage() == "before input 0"
    made.reset()
    assert (x.tolist(), table.tolist()) == ([0, 1, 2], [[9, 9], [9, 9]])
    made.restore()
    assert table.tolist() == [[0, 1], [2, 3]]
    assert np.isnan(out).all()
    assert made.damage() == ""


def test_a_changed_input_is_named_by_position_and_index():
    inputs = np.arange(3.0), np.array([np.nan, 1]), np.array([1j, 2j, 3j])
    made = Buffers(HOST, inputs, None, "random")
    assert made.changed_input() is None
    x, _, z = made.arguments("host", with_output=False)
    z[2] = 0
    assert made.changed_input() == (2, 2)
    x[1] = 99
    assert made.changed_input() == (0, 1)
    assert made.changed_input(but_first=True) == (2, 2)
    assert inputs[0].tolist() == [0, 1, 2], "variants never get the arrays that the study made"


def test_numba_views_are_made_once():
    wrapped = []
    space = Space("device", np, lambda array: wrapped.append(array) or ("view", id(array)))
    made = buffers(space)
    first, second = (made.arguments("numba", with_output=True) for _ in range(2))
    assert len(wrapped) == 3
    assert all(a is b for a, b in zip(first, second, strict=True))
    assert len(made.arguments("numba", with_output=False)) == 3


def test_out_of_memory_is_known_by_type_and_by_text():
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("cudaErrorMemoryAllocation: out of memory"))
    assert is_out_of_memory(RuntimeError("CUFFT_ALLOC_FAILED"))
    assert not is_out_of_memory(RuntimeError("cudaErrorIllegalAddress"))
