def reuse_a_buffer(streams, pairs, x_host, out_host, work):
    """Take each chunk to the GPU, work on it there, and bring the result back."""
    copy_in, compute, copy_out = streams
    for i in range(len(x_host)):
        x, out = pairs[i % len(pairs)]
        x.set(x_host[i], stream=copy_in)
        with compute:
            work(x, out)
        out.get(out=out_host[i], stream=copy_out, blocking=False)
    copy_out.synchronize()
