"""Asks an event again and again before it goes on, which is a wait like any other.

Found: limit.
"""


def fork_and_join(streams, prepare, left, right, join):
    one, two = streams
    with one:
        prepare()
    e = one.record()
    while not e.done:
        pass
    with one:
        left()
    with two:
        right()
    one.wait_event(two.record())
    with one:
        join()
    one.synchronize()
