"""Puts all four into one stream, where nothing overlaps.

Found: limit.
"""


def fork_and_join(streams, prepare, left, right, join):
    one, _ = streams
    with one:
        prepare()
        left()
        right()
        join()
    one.synchronize()
