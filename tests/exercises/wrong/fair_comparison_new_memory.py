"""Lets asnumpy make a new array for each result.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    for _ in range(2):
        start = clock()
        blur(image, out)
        cpu_s = clock() - start
        start = clock()
        image_device = cp.asarray(image)
        out_device = cp.empty_like(image_device)
        blur(image_device, out_device)
        cp.asnumpy(out_device)
        gpu_s = clock() - start
    return cpu_s, gpu_s
