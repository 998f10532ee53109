"""Lets nobody wait for what is prepared.

Found: race.
"""


def fork_and_join(streams, prepare, left, right, join):
    one, two = streams
    with one:
        prepare()
        left()
    with two:
        right()
    one.wait_event(two.record())
    with one:
        join()
    one.synchronize()
