"""Has all the events, and returns before the last copies have arrived.

Found: unfinished.
"""


def reuse_a_buffer(streams, pairs, x_host, out_host, work):
    copy_in, compute, copy_out = streams
    worked, fetched = [], []
    for i in range(len(x_host)):
        x, out = pairs[i % len(pairs)]
        if i >= len(pairs):
            copy_in.wait_event(worked[i - len(pairs)])
            compute.wait_event(fetched[i - len(pairs)])
        x.set(x_host[i], stream=copy_in)
        compute.wait_event(copy_in.record())
        with compute:
            work(x, out)
        worked.append(compute.record())
        copy_out.wait_event(worked[i])
        out.get(out=out_host[i], stream=copy_out, blocking=False)
        fetched.append(copy_out.record())
    compute.synchronize()
