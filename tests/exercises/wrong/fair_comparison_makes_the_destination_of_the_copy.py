"""Makes the array for the copy back between the two readings of the clock.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    blur(image, out)
    start = clock()
    blur(image, out)
    cpu_s = clock() - start

    def gpu():
        s = cp.asarray(image)
        r = cp.empty_like(s)
        blur(s, r)
        r.get(out=np.full_like(image, 0))

    gpu()
    start = clock()
    gpu()
    return cpu_s, clock() - start
