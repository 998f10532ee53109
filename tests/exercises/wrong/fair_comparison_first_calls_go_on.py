"""Starts the clock of the GPU while the first call is still at work there.

Found: wrong.
"""


def compare(np, cp, clock, blur, image):
    out = np.ones_like(image)
    blur(image, out)
    start = clock()
    blur(image, out)
    cpu_s = clock() - start

    def on_gpu():
        image_device = cp.asarray(image)
        out_device = cp.empty_like(image_device)
        blur(image_device, out_device)
        return out_device

    on_gpu()
    start = clock()
    on_gpu().get(out=out)
    return cpu_s, clock() - start
