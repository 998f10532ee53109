"""Products of matrices: edges of every kind, the kernels in CUDA C++, and rounding to bfloat16."""

import numpy as np
import pytest
from numba import float32

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.matmul import kernels
from gpuguide.topics.matmul.check import of_bfloat16
from gpuguide.topics.matmul.kernels import product_source
from gpuguide.topics.matmul.study import bits_of_bfloat16

# The last tile is cut off along each axis, in the first block and in the last; a sum of nothing is 0.
_EDGES = """
import numpy as np
from gpuguide.topics.matmul.kernels import tile_in_registers
for m, n, p in ((130, 17, 131), (3, 0, 5)):
    a, b = (np.arange(size) % 7 + 1.0 for size in (m * n, n * p))
    a, b = a.reshape(m, n).astype(np.float32), b.reshape(n, p).astype(np.float32)
    b[:, -1] = np.inf  # times the zeros beyond an edge it would be NaN
    c = np.full((m, p), 99, np.float32)
    tile_in_registers[((p + 127) // 128, (m + 127) // 128), 256](a, b, c)
    assert (c == a @ b).all(), (m, n, p)
"""


def test_tiles_in_registers_end_where_the_matrices_do(simulator_python):
    simulator_python(_EDGES)


@needs_compilers()
@pytest.mark.parametrize("name", ["product_quads", "product_singles"])
def test_the_sums_of_a_thread_stay_in_registers(name):
    facts = raw_facts(product_source, name)
    assert (facts.spills, facts.stack_bytes) == (0, 0)
    assert facts.count("ld.local") == 0


@needs_compilers()
def test_indices_of_a_tile_have_no_sign_and_none_is_compared_in_float64():
    """A range counts with a sign; a uint64 is compared with a signed shape in float64."""
    matrix = float32[:, ::1]
    facts = numba_facts(kernels.tile_in_shared, (matrix, matrix, matrix))
    assert facts.spills == 0
    assert [facts.count(opcode) for opcode in ("selp.b64", "setp.lt.s64", "cvt.rn.f64")] == [0, 0, 0]


def test_bfloat16_is_rounded_to_the_nearest_and_halves_to_even():
    x = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -3.0, 0], np.float32)
    assert of_bfloat16(bits_of_bfloat16(x)).tolist() == [1, 1, 1 + 2**-6, 1 + 2**-7, -3, 0]
