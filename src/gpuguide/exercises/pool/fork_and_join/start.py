def fork_and_join(streams, prepare, left, right, join):
    """Run four kernels, each after what it needs."""
    one, two = streams
    with one:
        prepare()
    one.synchronize()
    with one:
        left()
    with two:
        right()
    one.synchronize()
    two.synchronize()
    with one:
        join()
    one.synchronize()
