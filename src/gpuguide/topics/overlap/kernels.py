"""The loop that takes rows to the GPU and back, chunk by chunk, as the page shows it."""


def in_chunks(x_host, weights, out_host, buffers):
    """Multiply all rows by the weights, each chunk of them in the next stream."""
    rows = len(buffers[0][1])
    for i, start in enumerate(range(0, len(x_host), rows)):
        stream, x, out = buffers[i % len(buffers)]
        chunk = slice(start, start + rows)
        n = len(x_host[chunk])  # the last chunk may be shorter
        with stream:
            x[:n].set(x_host[chunk])
            x[:n].dot(weights, out=out[:n])
            out[:n].get(out=out_host[chunk], blocking=False)
    for stream, _, _ in buffers:
        stream.synchronize()
