"""Times half of the image, and takes it twice.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    image = image[: len(image) // 2]
    out = np.ones_like(image)
    for _ in range(2):
        start = clock()
        blur(image, out)
        cpu_s = clock() - start
        start = clock()
        image_device = cp.asarray(image)
        out_device = cp.empty_like(image_device)
        blur(image_device, out_device)
        out_device.get(out=out)
        gpu_s = clock() - start
    return 2 * cpu_s, 2 * gpu_s
