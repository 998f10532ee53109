"""Has both events, and waits for the wrong stream at the end.

Found: unfinished.
"""


def fork_and_join(streams, prepare, left, right, join):
    one, two = streams
    with one:
        prepare()
    two.wait_event(one.record())
    with one:
        left()
    with two:
        right()
    one.wait_event(two.record())
    with one:
        join()
    two.synchronize()
