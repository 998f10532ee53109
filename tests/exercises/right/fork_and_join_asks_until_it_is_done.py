"""Asks an event again and again at the end, in the place of waiting for it."""


def fork_and_join(streams, prepare, left, right, join):
    one, two = streams
    with one:
        prepare()
    e = one.record()
    with one:
        left()
    two.wait_event(e)
    with two:
        right()
    one.wait_event(two.record())
    with one:
        join()
    last = one.record()
    while not last.done:
        pass
