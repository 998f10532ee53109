"""Makes the events by CuPy's own class."""

import cupy as cp


def fork_and_join(streams, prepare, left, right, join):
    one, two = streams
    x_done, b_done = cp.cuda.Event(), cp.cuda.Event(disable_timing=True)
    with one:
        prepare()
        x_done.record()
        left()
    with two:
        two.wait_event(x_done)
        right()
        b_done.record()
    with one:
        one.wait_event(b_done)
        join()
    one.synchronize()
