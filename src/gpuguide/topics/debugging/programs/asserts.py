"""Asserts in a kernel that is compiled with debug=True."""

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit(debug=True, opt=False)
def look_up(keys, table, out):
    """Each thread looks up one key."""
    i = cuda.grid(1)
    if i < keys.size:
        assert 0 <= keys[i] < table.size, "a key that is not in the table"
        out[i] = table[keys[i]]


def main():
    """Launch it with one key that is not in the table."""
    keys = np.arange(1000)
    keys[700] = 10**12
    look_up[4, 256](cp.asarray(keys), cp.zeros(5000), cp.zeros(1000))


if __name__ == "__main__":
    main()
