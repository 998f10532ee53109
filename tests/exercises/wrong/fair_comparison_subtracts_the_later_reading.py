"""Subtracts the later reading of the clock from the earlier one.

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
        blur(cp.asarray(image), e)
        e.get(out=out)
        c = clock()
    return a - b, b - c
