"""Lets each mean go into its element, which is a view."""


def window_means(cp, signal, starts, length):
    first = sorted(starts)[0]
    last = sorted(starts)[-1] + length
    part = cp.array(signal[first:last])
    out = cp.empty(len(starts), dtype=cp.float32)
    for i, s in enumerate(starts):
        part[s - first : s - first + length].mean(out=out[i])
    return out.get()
