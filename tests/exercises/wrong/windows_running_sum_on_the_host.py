"""Makes all means by a running sum on the host, and lets the GPU pick some.

Found: limit.
"""

import numpy as np


def window_means(cp, signal, starts, length):
    first = min(starts)
    part = signal[first : max(starts) + length]
    total = np.concatenate([[0.0], np.cumsum(part, dtype=np.float64)])
    means = ((total[length:] - total[:-length]) / length).astype(np.float32)
    block = cp.asarray(means)
    return cp.stack([block[s - first] for s in starts]).get()
