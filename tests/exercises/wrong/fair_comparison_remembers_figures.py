"""Remembers the figures of each dtype.

Found: wrong.
"""

_figures = {}


def compare(np, cp, clock, blur, image):
    if image.dtype not in _figures:
        out = np.ones_like(image)
        e = cp.empty_like(cp.asarray(image))
        for _ in range(2):
            cp.cuda.Device().synchronize()
            a = clock()
            blur(image, out)
            b = clock()
            blur(cp.asarray(image), e)
            e.get(out=out)
            c = clock()
        _figures[image.dtype] = b - a, c - b
    return _figures[image.dtype]
