def compare(cp, clock, blur, image, out):
    """Return the seconds of a blur on the CPU, and on the GPU with the copies."""

    def on_cpu():
        blur(image, out)

    def on_gpu():
        image_device = cp.asarray(image)
        out_device = cp.empty_like(image_device)
        blur(image_device, out_device)
        out_device.get(out=out)  # waits until the result is there

    times = []
    for work in (on_cpu, on_gpu):
        work()  # compiles, and starts threads
        start = clock()
        work()
        times.append(clock() - start)
    return tuple(times)
