def fork_and_join(streams, prepare, left, right, join):
    """Run four kernels, each after what it needs."""
    one, two = streams
    with one:
        prepare()
    two.wait_event(one.record())  # before left, which right does not need
    with one:
        left()
    with two:
        right()
    one.wait_event(two.record())
    with one:
        join()
    one.synchronize()
