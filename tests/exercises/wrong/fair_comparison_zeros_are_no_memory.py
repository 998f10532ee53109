"""Takes zeros() for written memory, and times the CPU's first write to it.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out, warm = np.zeros(image.shape, image.dtype), np.ones_like(image)
    blur(image, warm)
    start = clock()
    blur(image, out)
    cpu_s = clock() - start
    for _ in range(2):
        start = clock()
        image_device = cp.asarray(image)
        out_device = cp.empty_like(image_device)
        blur(image_device, out_device)
        out_device.get(out=out)
        gpu_s = clock() - start
    return cpu_s, gpu_s
