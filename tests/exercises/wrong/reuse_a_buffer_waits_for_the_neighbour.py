"""Waits for the chunk before instead of the one that had the same pair.

Found: limit.
"""


def reuse_a_buffer(streams, pairs, x_host, out_host, work):
    copy_in, compute, copy_out = streams
    for i in range(len(x_host)):
        x, out = pairs[i % len(pairs)]
        copy_in.wait_event(compute.record())
        compute.wait_event(copy_out.record())
        x.set(x_host[i], stream=copy_in)
        compute.wait_event(copy_in.record())
        with compute:
            work(x, out)
        copy_out.wait_event(compute.record())
        out.get(out=out_host[i], stream=copy_out, blocking=False)
    copy_out.synchronize()
