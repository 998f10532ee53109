"""Joins without waiting for the other stream.

Found: race.
"""


def fork_and_join(streams, prepare, left, right, join):
    one, two = streams
    with one:
        prepare()
    two.wait_event(one.record())
    with two:
        right()
    with one:
        left()
        join()
    one.synchronize()
    two.synchronize()
