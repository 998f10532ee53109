import numpy as np


def window_means(cp, signal, starts, length):
    """Return the mean of each window of a recording."""
    means = []
    for start in starts:
        window = cp.asarray(signal[start : start + length])  # one copy there
        means.append(float(cp.mean(window)))  # and one back
    return np.array(means, dtype=np.float32)
