"""Arrays in a traced kernel: indices, views, shapes, iteration; and arguments of any strides."""

import itertools

import numpy as np
import pytest
from launching import launch, poisoned, ramp

from gpuguide.errors import ArgumentError


def result(body: str, n: int = 8, **arguments: object) -> list:
    """What one thread leaves in out."""
    source = f"def kernel({', '.join([*arguments, 'out'])}):\n    {body}\n"
    out = poisoned(n, dtype=np.float64)
    trace = launch(source, 1, 1, **arguments, out=out)
    assert trace.findings == (), [str(finding) for finding in trace.findings]
    return out[~np.isnan(out)].tolist()


TABLE = np.arange(12.0).reshape(3, 4)
CASES = [
    ("out[0] = x[1, 2]", [6]),
    ("out[0] = x[1][2]", [6]),
    ("i = (1, 2); out[0] = x[i]", [6]),
    ("row = x[1]; out[0] = row[2]", [6]),
    ("row = x[1, :]; out[0] = row[2] + row.size", [10]),
    ("column = x[:, 2]; out[0] = column[1] + len(column)", [9]),
    ("part = x[1:, 1:3]; out[0] = part[1, 0]; out[1], out[2] = part.shape", [9, 2, 2]),
    ("part = x[::-1, ::2]; out[0] = part[0, 1]", [10]),
    ("part = x[..., 3]; out[0] = part[2]", [11]),
    ("part = x[5:]; out[0] = part.shape[0]; out[1] = part.size", [0, 0]),
    ("out[0] = x.T[2, 1]; out[1] = x.transpose()[3, 0]", [6, 3]),
    ("flat = x.reshape(12); out[0] = flat[7]", [7]),
    ("square = x.reshape((2, 6)); out[0] = square[1, 0]", [6]),
    (
        "m, n = x.shape; out[0] = m; out[1] = n; out[2] = x.size; out[3] = x.ndim; out[4] = len(x)",
        [3, 4, 12, 2, 3],
    ),
    ("out[0] = x.itemsize; out[1] = x.nbytes; out[2], out[3] = x.strides", [8, 96, 32, 8]),
    ("out[0] = x[int32(1), uint8(2)]; out[1] = x[True, 2]", [6, 6]),
    ("out[0] = x[-1, -2]", [10]),
    ("for i, v in enumerate(x[2]): out[i] = v", [8, 9, 10, 11]),
    ("for a, b in zip(x[0], x[1]): out[int(a)] = a * b", [0, 5, 12, 21]),
    ("for row in x: out[int(row[0]) // 4] = row[1]", [1, 5, 9]),
    ("out[:] = 2; out[1:3] = 5; out[...] = out[2]", [5] * 8),
    ("out[:4] = x[1]", [4, 5, 6, 7]),
    ("out[0] = 1; out[0] += 2; out[0] *= 4; out[0] /= 8; out[0] //= 1; out[0] -= 3; out[0] **= 2", [4]),
    ("w = cuda.local.array((2, 3), x.dtype); w[:, :] = 1; w[1, 2] += 1; out[0] = w[1, 2] + w[0, 0]", [3]),
    ("a = (1, 2.5, 3); out[0] = a[1]; b, c, d = a; out[1] = d", [2.5, 3]),
]


@pytest.mark.parametrize(("body", "expected"), CASES, ids=[case[0] for case in CASES])
def test_arrays_are_used_as_in_numba(body: str, expected: list) -> None:
    assert result(body, x=TABLE.copy()) == expected


REFUSED = [
    ("out[x] = 1", "out is indexed by"),
    ("if x: out[0] = 1", "x is a whole array, neither true nor false"),
    ("out[:2] = x[0]", "an array of shape (4,) does not fit into one of shape (2,)"),
    ("out[0] = x.T.reshape(12)[1]", "x cannot be given the shape (12,)"),
    ("out[0] = -x", "x is a whole array; a kernel computes with single elements"),
    ("out[0] = float32(2) * x", "x is a whole array; a kernel computes with single elements"),
    ("out[0] = math.sqrt(x)", "math.sqrt takes numbers, not a whole array of shape (3, 4)"),
    ("out[0] = None", "one number of type float64 is expected here, not None"),
    ("out[0] = 'a'", "one number of type float64 is expected here, not a str"),
    (
        "cuda.atomic.add(out, slice(0, 2), 1)",
        "an atomic operation changes one element, not a whole array of shape (2,)",
    ),
    ("cuda.atomic.add(5, 0, 1)", "an atomic operation takes an array, an index and a value, not a int"),
    (
        "s = cuda.shared.array((2, -1), float32)",
        "a shape is made of whole numbers that are not negative, not (2, -1)",
    ),
    ("s = cuda.shared.array(2, 'text')", "a type such as float32 is expected here, not a str"),
    ("out[0] = cuda.grid(4)", "a grid has 1, 2 or 3 axes, not 4"),
    ("out[0] = cuda.popc(0.5)", "an integer is expected here, not"),
]


@pytest.mark.parametrize(("body", "reason"), REFUSED, ids=[case[0] for case in REFUSED])
def test_what_no_kernel_can_do_is_refused(body: str, reason: str) -> None:
    source = f"def kernel(x, out):\n    {body}\n"
    found = launch(source, 1, 1, x=TABLE.copy(), out=poisoned(8, dtype=np.float64)).findings
    assert f"fails in line 2: {reason}" in str(found[0])


def views(n: int) -> dict[str, np.ndarray]:
    """The numbers 0 to n - 1 in memory of every kind."""
    fortran = np.asfortranarray(np.full((n, 3), -1.0))
    fortran[:, 1] = np.arange(n)
    found = {
        "contiguous": ramp(n, np.float64),
        "every third": np.repeat(ramp(n), 3)[::3],
        "backwards": ramp(n)[::-1].copy()[::-1],
        "a column": np.stack([ramp(n)] * 4, axis=1)[:, 2],
        "a column in Fortran order": fortran[:, 1],
        "from the fifth on": np.concatenate([ramp(5), ramp(n)])[5:],
    }
    for array in found.values():
        assert array.tolist() == list(range(n))
    return found


@pytest.mark.parametrize("name", views(1))
def test_arguments_of_any_strides_are_changed_in_place(name: str) -> None:
    x = views(33)[name]
    home = x if x.base is None else x.base
    before = home.copy()
    assert (
        launch("def kernel(x):\n    i = cuda.grid(1)\n    if i < x.size: x[i] += 100\n", 2, 32, x=x).findings
        == ()
    )
    assert x.tolist() == list(range(100, 133))
    x -= 100
    assert np.array_equal(home, before)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5, 7), (1, 4), (4, 1), (0, 3), (2, 3, 4)])
def test_shapes_and_orders(shape: tuple[int, ...], order: str) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape, order=order)
    out = np.full(shape, np.nan, np.float32, order=order)
    loops = "".join(
        f"{'    ' * (axis + 1)}for i{axis} in range(x.shape[{axis}]):\n" for axis in range(len(shape))
    )
    index = ", ".join(f"i{axis}" for axis in range(len(shape)))
    source = f"def kernel(x, out):\n{loops}{'    ' * (len(shape) + 1)}out[{index}] = x[{index}] + 1\n"
    assert launch(source, 1, 1, x=x, out=out).findings == ()
    assert np.array_equal(out, x + 1)


def test_every_element_has_an_address_of_its_own() -> None:
    """So what two threads touch is told apart in views as well."""
    for x in views(8).values():
        source = "def kernel(x):\n    x[cuda.grid(1)] = 1\n"
        trace = launch(source, 1, 8, x=x)
        (region,) = trace.regions
        assert list(region.elements.values()) == [(i,) for i in range(8)]
        assert [region.index_of(cell) for cell in region.elements] == [(i,) for i in range(8)]


def test_a_read_only_array_is_not_written_to() -> None:
    x = ramp(2)
    x.flags.writeable = False
    (finding,) = launch("def kernel(x):\n    x[0] = 1\n", 1, 1, x=x).findings
    assert str(finding) == "Thread 0 of block 0 fails in line 2: x cannot be written to."


def test_arrays_that_overlap_must_coincide() -> None:
    memory = np.zeros(8, np.float32)
    with pytest.raises(ArgumentError, match="elements of x and y overlap without coinciding"):
        launch("def kernel(x, y):\n    x[0] = y[0]\n", 1, 1, x=memory, y=memory.view(np.int16))


def test_three_arrays_that_overlap_in_a_chain_share_one_memory() -> None:
    memory = ramp(12)
    arguments = {"a": memory[:5], "b": memory[4:9], "c": memory[8:]}
    source = "def kernel(a, b, c):\n    a[4] = 50\n    b[4] = b[0] + 1\n    c[1] = c[0] + 1\n"
    for names in itertools.permutations(arguments):
        memory[:] = ramp(12)
        shuffled = source.replace("kernel(a, b, c)", f"kernel({', '.join(names)})")
        assert launch(shuffled, 1, 1, **{name: arguments[name] for name in names}).findings == ()
        assert memory.tolist() == [0, 1, 2, 3, 50, 5, 6, 7, 51, 52, 10, 11]


@pytest.mark.parametrize("part", ["own[1:]", "own.reshape(2)"])
def test_a_part_of_a_local_array_is_the_thread_s_own(part: str) -> None:
    """Also one that is taken after other threads have made theirs."""
    source = (
        "def kernel(out):\n    own = cuda.local.array(2, int32)\n    own[0] = own[1] = cuda.threadIdx.x\n"
        f"    cuda.syncthreads()\n    part = {part}\n    out[cuda.threadIdx.x] = part[0]\n"
    )
    out = poisoned(3)
    assert launch(source, 1, 3, out=out).findings == ()
    assert out.tolist() == [0, 1, 2]
