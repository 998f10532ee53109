"""Launch sizes cover the data and refuse what CUDA refuses."""

import pytest

from gpuguide.errors import ArgumentError
from gpuguide.machine.launch import blocks_1d


@pytest.mark.parametrize(
    ("n", "threads", "blocks"), [(0, 256, 1), (1, 256, 1), (255, 256, 1), (256, 256, 1), (257, 256, 2)]
)
def test_blocks_cover_every_element(n: int, threads: int, blocks: int) -> None:
    assert blocks_1d(n, threads) == blocks


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: blocks_1d(-1, 256), "n must be an integer of at least 0; got -1."),
        (lambda: blocks_1d(1.5, 256), "n must be an integer of at least 0; got 1.5."),
        (lambda: blocks_1d(True, 256), "n must be an integer of at least 0; got True."),
        (lambda: blocks_1d(10, 0), "threads_per_block must be an integer from 1 to 1024; got 0."),
        (lambda: blocks_1d(10, 2048), "threads_per_block must be an integer from 1 to 1024; got 2048."),
        (lambda: blocks_1d(2**40, 32), "CUDA takes at most 2147483647"),
    ],
)
def test_arguments_are_checked(call, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert message in str(caught.value)
