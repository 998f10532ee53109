"""Takes for warm what was called for another call.

Found: wrong.
"""

_seen = set()


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    e = cp.empty_like(cp.asarray(image))
    if image.dtype not in _seen:
        _seen.add(image.dtype)
        blur(image, out)
        blur(cp.asarray(image), e)
        e.get(out=out)
    cp.cuda.Device().synchronize()
    t0 = clock()
    blur(image, out)
    t1 = clock()
    blur(cp.asarray(image), e)
    e.get(out=out)
    return t1 - t0, clock() - t1
