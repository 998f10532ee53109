def normalise(cp, image):
    """Bring an image to the range from -1 to 1."""
    x = cp.asarray(image)
    x = x - cp.mean(x)
    limit = 2 * cp.mean(cp.abs(x))  # an array without dimensions: it stays on the GPU
    return cp.asnumpy(cp.clip(x, -limit, limit) / limit)
