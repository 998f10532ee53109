"""Lets Python wait until a pair is free, which costs no time here, but stops whatever else Python has to do.

Found: limit.
"""


def reuse_a_buffer(streams, pairs, x_host, out_host, work):
    copy_in, compute, copy_out = streams
    n = len(pairs)
    d, o = [], []
    for i in range(len(x_host)):
        x, out = pairs[i % n]
        if i >= n:
            d[i - n].synchronize()
        x.set(x_host[i], stream=copy_in)
        compute.wait_event(copy_in.record())
        if i >= n:
            compute.wait_event(o[i - n])
        with compute:
            work(x, out)
        d.append(compute.record())
        copy_out.wait_event(d[-1])
        out.get(out=out_host[i], stream=copy_out, blocking=False)
        o.append(copy_out.record())
    copy_out.synchronize()
