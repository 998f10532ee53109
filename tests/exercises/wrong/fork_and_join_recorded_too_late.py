"""Records the event after left, so that right waits for it, too.

Found: limit.
"""


def fork_and_join(streams, prepare, left, right, join):
    one, two = streams
    with one:
        prepare()
        left()
    two.wait_event(one.record())
    with two:
        right()
    one.wait_event(two.record())
    with one:
        join()
    one.synchronize()
