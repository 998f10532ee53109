"""Takes the sizes in 32 bits.

Found: wrong.
"""

import numpy as np


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(
        zip((int(n) for n in np.array(sizes, dtype=np.int64).astype(np.int32)), cpu_s, gpu_s, strict=False)
    )
    slower = [n for n, c, g in rows if g > c]
    notf = [i for i, (n, c, g) in enumerate(rows) if g >= c]
    if not slower or notf[-1] + 1 >= len(rows):
        return None
    return slower[-1], rows[notf[-1] + 1][0]
