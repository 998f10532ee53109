"""Takes the sizes in single precision.

Found: wrong.
"""

import numpy as np


def crossing_point(sizes, cpu_s, gpu_s):
    if not sizes:
        return None
    t = np.array([sizes, cpu_s, gpu_s])
    t = t[:, t[0].argsort()]
    n = t[0].astype(np.float32)
    sl, nf = np.flatnonzero(t[2] > t[1]), np.flatnonzero(t[2] >= t[1])
    if not sl.size or nf[-1] + 1 == len(n):
        return None
    return int(n[sl[-1]]), int(n[nf[-1] + 1])
