"""Makes the array for the result between the two readings of the clock.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    blur(image, np.ones_like(image))
    start = clock()
    out = np.ones_like(image)
    blur(image, out)
    cpu_s = clock() - start

    def gpu():
        s = cp.asarray(image)
        r = cp.empty_like(s)
        blur(s, r)
        r.get(out=out)

    gpu()
    start = clock()
    gpu()
    return cpu_s, clock() - start
