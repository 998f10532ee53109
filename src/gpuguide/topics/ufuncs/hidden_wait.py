"""How long a call keeps the host while the GPU has other work: whether it waits."""

from time import perf_counter

from gpuguide.measure.session import current

# Much longer than a launch keeps the host, so that a call that waits stands out.
BUSY_NS = 2_000_000


def host_time_while_busy(call, n_samples=20):
    """Time how long a call keeps the host while the GPU has other work; one that waits takes as long."""
    gpu = current().machine.gpu
    assert gpu, "This needs a GPU."
    samples = []
    with gpu.use():
        call()
        for _ in range(n_samples):
            gpu.synchronize()
            gpu.delay(BUSY_NS)
            start = perf_counter()
            call()
            samples.append(perf_counter() - start)
        gpu.synchronize()
    return samples
