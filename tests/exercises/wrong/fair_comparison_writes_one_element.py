"""Writes one element of the array for the result.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    back = np.empty_like(image)
    back[0, 0] = 0
    e = cp.empty_like(cp.asarray(image))
    blur(image, out)
    blur(cp.asarray(image), e)
    e.get()
    t0 = clock()
    blur(image, out)
    t1 = clock()
    blur(cp.asarray(image), e)
    e.get(out=back)
    return t1 - t0, clock() - t1
