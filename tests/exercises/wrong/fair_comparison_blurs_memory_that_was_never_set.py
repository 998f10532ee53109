"""Copies the image, and blurs another array that nobody has set.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    e = cp.empty_like(cp.asarray(image))
    f = cp.empty_like(e)
    blur(image, out)
    blur(cp.asarray(image), e)
    e.get(out=out)
    t0 = clock()
    blur(image, out)
    t1 = clock()
    cp.asarray(image)
    blur(f, e)
    e.get(out=out)
    return t1 - t0, clock() - t1
