"""The softmax of rows with the parallel algorithms of cuda.compute."""

import math

import cupy as cp
import numpy as np
from cuda.compute import OpKind, binary_transform, segmented_reduce
from cuda.compute.iterators import (
    CountingIterator,
    PermutationIterator,
    TransformIterator,
    ZipIterator,
)


def softmax(x, out):
    rows, cols = x.shape
    starts = cp.arange(rows, dtype=cp.int64) * cols
    largest, total = cp.empty((2, rows), dtype=cp.float32)
    stream = cp.cuda.get_current_stream()

    def row_of(i):
        return i // cols

    def power(pair):
        return np.float32(math.exp(pair[0] - pair[1]))

    def share(power, total):
        return power / total

    def of_row(values):
        which = TransformIterator(CountingIterator(np.int64(0)), row_of)
        return PermutationIterator(values, which)

    def reduce_rows(values, result, operation, first):
        segmented_reduce(
            d_in=values,
            d_out=result,
            num_segments=rows,
            start_offsets_in=starts,
            end_offsets_in=starts + cols,
            op=operation,
            h_init=np.array(first, dtype=np.float32),
            stream=stream,
        )

    numbers = x.reshape(-1)
    reduce_rows(numbers, largest, OpKind.MAXIMUM, -math.inf)
    powers = TransformIterator(ZipIterator(numbers, of_row(largest)), power)
    reduce_rows(powers, total, OpKind.PLUS, 0)
    binary_transform(
        d_in1=powers,
        d_in2=of_row(total),
        d_out=out.reshape(-1),
        op=share,
        num_items=x.size,
        stream=stream,
    )
