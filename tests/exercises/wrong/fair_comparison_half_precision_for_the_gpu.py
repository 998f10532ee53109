"""Gives the GPU half of the bytes.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out, out_32 = np.ones_like(image), np.ones(image.shape, np.float32)
    for _ in range(2):
        start = clock()
        blur(image, out)
        cpu_s = clock() - start
        start = clock()
        image_device = cp.asarray(image, dtype=cp.float32)
        out_device = cp.empty_like(image_device)
        blur(image_device, out_device)
        out_device.get(out=out_32)
        gpu_s = clock() - start
    return cpu_s, gpu_s
