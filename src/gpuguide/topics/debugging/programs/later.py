"""Looks up a thousand keys in a table; one of them is not in it."""

import cupy as cp
from numba import cuda


@cuda.jit(lineinfo=True)
def look_up(keys, table, out):
    """Each thread looks up one key."""
    i = cuda.grid(1)
    if i < keys.size:
        out[i] = table[keys[i]]


def main():
    """Launch it, then fetch the result."""
    table = cp.zeros(5000, cp.float32)
    keys = list(range(1000))
    keys[700] = 10**12  # "no key"
    out = cp.zeros(1000, cp.float32)
    look_up[4, 256](cp.asarray(keys), table, out)
    print("looked up")
    result = out.get()
    print("fetched", result[:3])


if __name__ == "__main__":
    main()
