"""Takes the image for a line, and gives the result its shape on the host."""


def normalise(cp, image):
    x = cp.asarray(image).ravel()
    x = x - x.mean()
    limit = cp.abs(x).sum() * (2 / x.size)
    return cp.asnumpy(x.clip(-limit, limit) / limit).reshape(image.shape)
