def compare(cp, clock, blur, image, out):
    """Return the seconds of a blur on the CPU, and on the GPU with the copies."""
    start = clock()
    blur(image, out)
    cpu_s = clock() - start

    image_device = cp.asarray(image, dtype=cp.float32)
    out_device = cp.empty_like(image_device)
    start = clock()
    blur(image_device, out_device)
    gpu_s = clock() - start
    return cpu_s, gpu_s
