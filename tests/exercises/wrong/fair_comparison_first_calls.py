"""Times the first calls of both sides.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    start = clock()
    blur(image, out)
    cpu_s = clock() - start
    start = clock()
    image_device = cp.asarray(image)
    out_device = cp.empty_like(image_device)
    blur(image_device, out_device)
    out_device.get(out=out)
    return cpu_s, clock() - start
