"""Takes differences of running sums, in which what was loud before has used up the digits.

Found: wrong.
"""


def window_means(cp, signal, starts, length):
    first = min(starts)
    part = cp.asarray(signal[first : max(starts) + length])
    sums = cp.concatenate([cp.zeros(1, cp.float32), cp.cumsum(part)])
    means = [(sums[at - first + length] - sums[at - first]) / length for at in starts]
    return cp.stack(means).astype(cp.float32).get()
