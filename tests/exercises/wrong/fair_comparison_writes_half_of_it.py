"""Writes half of the array for the result.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    back = np.empty_like(image)
    back[: len(back) // 2] = 0
    out = np.ones_like(image)
    e = cp.empty_like(cp.asarray(image))
    blur(image, out)
    blur(cp.asarray(image), e)
    e.get()
    a = clock()
    blur(image, out)
    b = clock()
    blur(cp.asarray(image), e)
    e.get(out=back)
    c = clock()
    return b - a, c - b
