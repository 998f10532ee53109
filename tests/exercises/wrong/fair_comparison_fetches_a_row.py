"""Gets one row of the result back.

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
        out_device[0].get(out=out[0])
        gpu_s = clock() - start
    return cpu_s, gpu_s
