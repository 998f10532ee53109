"""Writes views of the array for the result, and gets it in two halves."""


def compare(np, cp, clock, blur, image):
    out = np.empty_like(image)
    out[::2], out[1::2] = 0, 0
    h = len(image) // 2
    e = cp.zeros(image.shape, image.dtype)
    d = cp.zeros_like(e)
    best = []
    for _ in range(4):
        a = clock()
        blur(image, out)
        b = clock()
        d.set(image)
        blur(d, e)
        e[:h].get(out=out[:h])
        e[h:].get(out=out[h:])
        c = clock()
        best.append((b - a, c - b))
    return tuple(map(min, zip(*best, strict=True)))
