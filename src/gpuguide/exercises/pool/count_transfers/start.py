def normalise(cp, image):
    """Bring an image to the range from -1 to 1."""
    mean = float(cp.mean(cp.asarray(image)))
    centred = cp.asnumpy(cp.asarray(image) - mean)

    limit = 2 * float(cp.mean(cp.abs(cp.asarray(centred))))
    clipped = cp.asnumpy(cp.clip(cp.asarray(centred), -limit, limit))

    return cp.asnumpy(cp.asarray(clipped) / limit)
