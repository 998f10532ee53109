"""Makes the events first, and names the stream when it records them."""

import cupy


def fork_and_join(streams, prepare, left, right, join):
    one, two = streams
    forked = cupy.cuda.Event(block=True)
    joined = cupy.cuda.Event(block=True)
    with two:
        prepare()
    forked.record(two)
    one.wait_event(forked)
    with one:
        left()
    joined.record(one)
    with two:
        right()
        two.wait_event(joined)
        join()
    two.synchronize()
