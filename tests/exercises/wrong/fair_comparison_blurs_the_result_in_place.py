"""Copies the image, and blurs the array of the result in place.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    e = cp.empty_like(cp.asarray(image))
    for _ in range(2):
        cp.cuda.Device().synchronize()
        a = clock()
        blur(image, out)
        b = clock()
        cp.asarray(image)
        blur(e, e)
        e.get(out=out)
        c = clock()
    return b - a, c - b
