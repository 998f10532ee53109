"""Gets the result into memory that stays where it is."""


def compare(np, cp, clock, blur, image):
    mem = cp.cuda.alloc_pinned_memory(image.nbytes)
    out = np.frombuffer(mem, image.dtype, image.size).reshape(image.shape)
    out[...] = 0
    e = cp.empty_like(cp.asarray(image))
    for _ in range(2):
        a = clock()
        blur(image, out)
        b = clock()
        blur(cp.asarray(image), e)
        e.get(out=out)
        c = clock()
    return b - a, c - b
