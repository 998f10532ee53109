"""Other functions of CuPy, with the keywords that it documents."""


def normalise(cp, image):
    x = cp.asanyarray(image)
    x = cp.ascontiguousarray(x - cp.mean(x))
    limit = 2 * cp.linalg.norm(x.ravel(), 1) / x.size
    size = cp.clip(cp.fabs(x), a_min=None, a_max=limit)
    cp.putmask(size, x < 0, -size)
    return cp.asnumpy(size / limit)
