"""An integral whose pieces are shared out among GPUs, and what all studies of several GPUs need."""

from functools import cache, partial
from types import SimpleNamespace

import numpy as np

from gpuguide.errors import BackendError, MismatchError, NoGpuError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, has_gpu
from gpuguide.measure.plan import end_to_end_variant
from gpuguide.measure.study import Study
from gpuguide.topics.several_gpus.kernels import INTEGRATE_SOURCE

PIECES = 64  # each on one GPU; their areas are compared
SLICES = 2**16  # of a piece at most, with a thread for each: four million in all


def count():
    """Count the GPUs that this process sees; 0 without one."""
    return int(cupy().cuda.runtime.getDeviceCount()) if has_gpu() else 0


def lacking(n):
    """Say how many GPUs are missing; nothing where there is none at all, as for all studies."""
    return f"needs {n} GPUs, and this process sees {count()}" if 0 < count() < n else ""


def unavailable(find):
    """Say why a library cannot be used; nothing where it can, or where there is no GPU."""
    if has_gpu():
        try:
            find()
        except BackendError as error:
            return str(error)
    return ""


def some(n):
    """Return the first GPUs, each with a stream that is made once."""
    if why := lacking(n):
        raise NoGpuError(
            f"This {why}. See nvidia-smi, and whether CUDA_VISIBLE_DEVICES hides some."
        )
    return [_gpu(number) for number in range(n)]


@cache
def _gpu(number):
    device = cupy().cuda.Device(number)
    with device:
        stream = cupy().cuda.Stream(non_blocking=True)
    return SimpleNamespace(number=number, device=device, stream=stream)


def cut(n, gpus):
    """Cut n things into about equal parts: each GPU with the begin and the end of its part."""
    return [(gpu, n * g // len(gpus), n * (g + 1) // len(gpus)) for g, gpu in enumerate(gpus)]


def gather(parts, out):
    """Bring the parts of a result to the current GPU, when each GPU has made its own."""
    out = cupy().asarray(out)
    for (gpu, begin, end), part in parts:
        gpu.stream.synchronize()
        out[begin:end] = part.copy()


def on_gpus(name, call, label, missing="", **options):
    """Describe a call on some GPUs; where these are missing, its rows say so and nothing is timed."""
    # No size of a study is as small.
    there = {"max_size": 1, "max_size_reason": missing} if missing else {}
    options = {"arrays": "numba", "note": f"{label}.", **there, **options}
    return end_to_end_variant(name, call, label, **options)


def plan(n):
    """Return how many slices a piece has, and how many points a slice has.

    >>> plan(2**37), plan(2**24), plan(100)
    ((65536, 32768), (65536, 4), (1, 1))
    """
    slices = min(max(1, n // PIECES), SLICES)
    return slices, max(1, n // PIECES // slices)


@cache
def integrate_kernel(source):
    """Make the kernel of a source: the area of the slice that begins at `left`."""
    return cupy().ElementwiseKernel(
        "float64 left, int64 points, float64 step", "float64 area", source, "integrate"
    )


def areas_of(begin, end, first, n, source):
    """Integrate 4 / (1 + x^2) over some pieces of length 1 / 64, on the current GPU."""
    slices, points = plan(n)
    width = 1 / PIECES / slices
    left = first + cupy().arange(begin * slices, end * slices) * width
    areas = integrate_kernel(source)(left, points, width / points)
    return areas.reshape(end - begin, slices).sum(axis=1)


def shared(n_gpus, first, n, out):
    """Share the pieces out among the first GPUs, and launch on all of them before waiting for any."""
    launch.check(out=out, shape=(PIECES,), dtype="float64")
    parts = []
    for gpu, begin, end in cut(PIECES, some(n_gpus)) if n else ():
        with gpu.device, gpu.stream:
            areas = areas_of(begin, end, first, n, INTEGRATE_SOURCE)
            parts.append(((gpu, begin, end), areas))
    if parts:
        gather(parts, out)


class Near:
    """Every number is as near to the right one as rounding and the rule allow; an error names the worst."""

    def __init__(self, right):
        self.right = right

    def prepare(self, inputs):
        """Return the right numbers, and how far others may be off."""
        return self.right(*inputs)

    def compare(self, output, prepared):
        """Compare on the host; there are few numbers."""
        output, right = (x.get() if hasattr(x, "get") else x for x in (output, prepared[0]))
        off = np.abs(output.astype(np.float64) - right)
        worst = int(off.argmax())  # a NaN counts as the largest
        if not off[worst] <= prepared[1]:
            raise MismatchError(
                f"Number {worst} is wrong: expected {right[worst]}, got {output[worst]}; "
                f"the tolerance is {prepared[1]:.3g}."
            )
        return float(off[worst]), prepared[1]


def areas_reference(first, n):
    """Compute the areas by arctangents, and how far an approximation by midpoints may be off."""
    slices, points = plan(n)
    left = first + np.arange(PIECES) / PIECES
    # The second derivative is at most 8; the additions are one after the other within a slice.
    rule = (1 / PIECES / slices / points) ** 2 / 3 / PIECES
    rounding = np.finfo(np.float64).eps * (points + 20) * 4 / PIECES
    return 4 * np.arctan(1 / PIECES / (1 + left * (left + 1 / PIECES))), rule + rounding


def integral_of(name, title, calls, sizes, kernels=None):
    """Describe a study of the integral; the first variant is the one that others are compared with."""
    return Study(
        name=name,
        title=title,
        variants=tuple(on_gpus(*call) for call in calls),
        sizes=sizes,
        inputs=lambda n, dtype, rng, exact: (0.0 if exact else float(rng.random()), n),
        check=Near(areas_reference),
        output=lambda n, dtype: ((PIECES,), np.float64),
        dtype="float64",
        size_name="points",
        input_note="where the first piece begins, at random; all else is made on the GPUs",
        baseline=calls[0][0],
        kernels=kernels,
    )


def study(kernels=None):
    """Describe the integral on one GPU and on two."""
    one = "one", partial(shared, 1), "1 GPU"
    two = "two", partial(shared, 2), "2 GPUs", lacking(2)
    title = "An integral, its pieces shared out among GPUs"
    return integral_of("integral", title, [one, two], (2**24, 2**37), kernels)
