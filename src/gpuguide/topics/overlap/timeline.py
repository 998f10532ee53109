"""When each copy and each product of a chunk began and ended, by events; and each of them alone."""

from functools import partial

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.measure import cp
from gpuguide.topics.overlap.study import CHUNK, WIDTH, buffers, weights_host, weights_on_gpu

SMALL = 64  # rows in a chunk that is asked for to see how long asking takes


def pinned_rows(n):
    """Return rows of random numbers and as many for the results, both in pinned memory."""
    import cupyx

    x_host, out_host = (cupyx.empty_pinned((n, WIDTH), np.float32) for _ in range(2))
    np.random.default_rng(0).random(out=x_host, dtype=np.float32)
    return x_host, out_host


def timeline(n_streams, n_chunks=8):
    """Take chunks to the GPU and back once more, with an event before and after each step."""
    x_host, out_host = pinned_rows(n_chunks * CHUNK)
    turns = buffers(n_streams)
    # The first call makes what cuBLAS needs in each stream.
    _with_events(x_host, out_host, turns)
    cp.cuda.Device().synchronize()
    origin, taken = _with_events(x_host, out_host, turns)
    cp.cuda.Device().synchronize()
    if not np.allclose(out_host[-1], x_host[-1] @ weights_host(), rtol=1e-3, atol=0.05):
        raise ArgumentError("timeline: the last row is wrong, so the times mean nothing.")
    elapsed = cp.cuda.get_elapsed_time
    return spans([[elapsed(origin, event) / 1e3 for event in events] for events in taken])


def _with_events(x_host, out_host, turns):
    """Do what `in_chunks` does, and record four events for each chunk."""
    origin, taken = turns[0][0].record(), []
    for i, start in enumerate(range(0, len(x_host), CHUNK)):
        stream, x, out = turns[i % len(turns)]
        chunk = slice(start, start + CHUNK)
        with stream:
            events = [stream.record()]
            x.set(x_host[chunk])
            events.append(stream.record())
            x.dot(weights_on_gpu(), out=out)
            events.append(stream.record())
            out.get(out=out_host[chunk], blocking=False)
            events.append(stream.record())
        taken.append(events)
    return origin, taken


def spans(times):
    """Turn the times of four events per chunk into begin and end of its three steps."""
    # An event before a step shows when its stream was ready for it. The step itself begins when, besides, the
    # step of this kind that ended last before it has ended: each direction has one copy engine, and a product
    # fills the GPU. The GPU may take chunks that wait in another order than they were asked for.
    marks = np.asarray(times, float)
    begin, end = marks[:, :3].copy(), marks[:, 1:]
    for step in range(3):
        order = np.argsort(end[:, step], kind="stable")
        begin[order[1:], step] = np.maximum(begin[order[1:], step], end[order[:-1], step])
    return np.stack([begin, end], axis=2)


def parts():
    """Return the three steps of one chunk, each to be timed alone by the GPU's clock."""
    x_host, out_host = pinned_rows(CHUNK)
    ((_, x, out),) = buffers(1)
    x.set(x_host)
    return {
        "copy_in": partial(x.set, x_host),
        "work": partial(x.dot, weights_on_gpu(), out=out),
        "copy_out": partial(out.get, out=out_host, blocking=False),
    }


def asking():
    """Return what Python does for one small chunk in three streams, without waiting for it."""
    x_host, out_host = pinned_rows(SMALL)
    turns = buffers(3, SMALL)
    count = iter(range(10**9))

    def ask():
        stream, x, out = turns[next(count) % 3]
        n = len(x_host[:SMALL])
        with stream:
            x[:n].set(x_host[:SMALL])
            x[:n].dot(weights_on_gpu(), out=out[:n])
            out[:n].get(out=out_host[:SMALL], blocking=False)

    return {"asking": ask}
