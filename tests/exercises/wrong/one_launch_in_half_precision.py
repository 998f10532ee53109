"""Fuses a product in half precision, which is enough for small numbers only.

Found: wrong.
"""


def scale_rows(cp, x, factors):
    @cp.fuse()
    def scaled(a, b):
        return a.astype(cp.float16).astype(cp.float32) * b

    return scaled(x, factors[:, None])
