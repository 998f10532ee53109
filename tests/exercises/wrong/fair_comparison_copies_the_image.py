"""Makes the array for the result by a copy of the image, while the clock runs.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    blur(image, image.copy())
    start = clock()
    blur(image, image.copy())
    cpu_s = clock() - start
    out = np.zeros_like(image)

    def gpu():
        source = cp.asarray(image)
        blurred = cp.empty_like(source)
        blur(source, blurred)
        blurred.get(out=out)

    gpu()
    start = clock()
    gpu()
    return cpu_s, clock() - start
