"""Remembers the arrays of each shape.

Found: wrong.
"""

_buf = {}


def compare(np, cp, clock, blur, image):
    if image.shape not in _buf:
        d = cp.asarray(image)
        _buf[image.shape] = np.ones_like(image), d, cp.empty_like(d)
    out, d, e = _buf[image.shape]
    for _ in range(2):
        cp.cuda.Device().synchronize()
        a = clock()
        blur(image, out)
        b = clock()
        d = cp.asarray(image)
        blur(d, e)
        e.get(out=out)
        c = clock()
    return b - a, c - b
