"""Random numbers in kernels: Philox as published, and what the checks accept and reject."""

from collections.abc import Callable

import numpy as np
import pytest

from gpuguide.errors import MismatchError
from gpuguide.topics.random_in_kernels import study as walks
from gpuguide.topics.random_in_kernels.check import InsideCheck, WalkCheck

RNG = np.random.default_rng(3)
THREADS, POINTS, STEPS = 2**12, 64, 1000


def passes(check: object, output: np.ndarray, *inputs: int) -> bool:
    largest, allowed = check.compare(output, check.prepare(inputs))
    return bool(largest <= allowed)


def counts(threads: int = THREADS) -> np.ndarray:
    return RNG.binomial(POINTS, np.pi / 4, threads).astype(np.int32)


def ends(walkers: int = THREADS) -> np.ndarray:
    ways = RNG.multinomial(STEPS, [1 / 4] * 4, walkers)
    return np.stack([ways[:, 0] - ways[:, 1], ways[:, 2] - ways[:, 3]], axis=1).astype(np.int32)


@pytest.mark.parametrize("threads", [0, 1, 31, 32, 512, THREADS])
def test_counts_by_chance_pass(threads: int) -> None:
    made = counts(threads)
    assert passes(InsideCheck(), made, threads, POINTS)
    assert passes(InsideCheck(), made.sum(keepdims=True), threads, POINTS)


def test_counts_that_chance_does_not_make_are_rejected() -> None:
    repeated = np.tile(counts(256), THREADS // 256)  # all blocks throw the points of the first
    half = counts() // 2
    even = np.full(THREADS, round(POINTS * np.pi / 4), np.int32)  # more alike than by chance
    for wrong in (repeated, half, even):
        assert not passes(InsideCheck(), wrong, THREADS, POINTS)
    with pytest.raises(MismatchError, match="1 counts do not lie from 0 to 64"):
        passes(InsideCheck(), np.append(counts(THREADS - 1), POINTS + 1), THREADS, POINTS)


@pytest.mark.parametrize("walkers", [0, 1, 33, THREADS])
def test_walks_by_chance_pass(walkers: int) -> None:
    assert passes(WalkCheck(), ends(walkers), STEPS)


def test_walks_that_chance_does_not_make_are_rejected() -> None:
    aside = ends() + np.array([40, 0])
    repeated = np.tile(ends(256), (THREADS // 256, 1))
    for wrong in (aside, repeated, np.zeros((THREADS, 2), np.int32)):
        assert not passes(WalkCheck(), wrong, STEPS)
    with pytest.raises(MismatchError, match="1 walks end where 1000 steps cannot lead"):
        passes(WalkCheck(), np.concatenate([ends(40), [[1, 0]]]), STEPS)


@pytest.mark.parametrize("steps", [1, 2 * walks.AT_ONCE + 5])
def test_walks_in_pieces_pass(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "cp", np)
    monkeypatch.setattr(walks, "four_ways", walks.four_ways.__wrapped__)
    monkeypatch.setattr(walks, "generator", lambda: RNG)
    made = np.empty((THREADS, 2), np.int32)
    walks.cupy_pieces(steps, made)
    assert passes(WalkCheck(), made, steps)


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox 4x32 with ten rounds, in Python's whole numbers."""
    (a, b, c, d), (first, second) = counter, key
    for _ in range(10):
        one, two = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (two >> 32) ^ b ^ first, two % 2**32, (one >> 32) ^ d ^ second, one % 2**32
        first, second = (first + 0x9E3779B9) % 2**32, (second + 0xBB67AE85) % 2**32
    return [a, b, c, d]


def test_philox_makes_the_published_numbers(simulator_python: Callable[..., str]) -> None:
    vector = philox([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0])
    assert vector == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
    snippet = """
import numpy as np
from numba import cuda
from gpuguide.topics.random_in_kernels.kernels import philox

@cuda.jit
def make(count, thread, seed, out):
    out[0], out[1], out[2], out[3] = philox(count, thread, seed)

for arguments in ((0, 0, 0), (7, 12, 2026), (2**32 - 1, 2**31, 5)):
    out = np.empty(4, np.uint32)
    make[1, 1](*arguments, out)
    print(out.tolist())
"""
    expected = [
        philox([k, 0, i, 0], [seed, 0]) for k, i, seed in ((0, 0, 0), (7, 12, 2026), (2**32 - 1, 2**31, 5))
    ]
    assert expected[0] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert simulator_python(snippet, timeout=120) == "".join(f"{numbers}\n" for numbers in expected)


def test_the_cpu_throws_the_same_points(simulator_python: Callable[..., str]) -> None:
    snippet = """
import numpy as np
from gpuguide.topics.random_in_kernels import kernels
counts = np.empty((2, 40), np.int32)
kernels.no_state[2, 32](2026, 34, counts[0])
kernels.cpu_threads(2026, 34, counts[1])
print((counts[0] == counts[1]).all(), len(set(counts[0].tolist())) > 5)
"""
    assert simulator_python(snippet, timeout=120) == "True True\n"


@pytest.mark.parametrize(("n", "threads"), [(0, 4), (5, 7), (1000, 96)])
def test_stored_points_are_counted_once(simulator_python: Callable[..., str], n: int, threads: int) -> None:
    snippet = f"""
import numpy as np
from gpuguide.topics.random_in_kernels.kernels import count_stored
rng, counts = np.random.default_rng(1), np.ones({threads}, np.int32)
x, y = rng.random({n}, np.float32), rng.random({n}, np.float32)
count_stored[2, 64](x, y, counts)
inside = x * x + y * y < 1
right = [1 + int(inside[i::{threads}].sum()) for i in range({threads})]
print(counts.tolist() == right)
"""
    assert simulator_python(snippet, timeout=120) == "True\n"
