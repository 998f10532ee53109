"""Returns the time of three blurs.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    e = cp.empty_like(cp.asarray(image))
    c = g = 0
    for _i in range(3):
        t0 = clock()
        blur(image, out)
        t1 = clock()
        blur(cp.asarray(image), e)
        e.get(out=out)
        t2 = clock()
        c += t1 - t0
        g += t2 - t1
    return c, g
