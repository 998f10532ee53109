"""An integral whose pieces are shared out among GPUs, and what all studies of several GPUs need."""

from functools import cache, partial
from types import SimpleNamespace

import numpy as np

from gpuguide.errors import BackendError, MismatchError, NoGpuError
from gpuguide.machine.backends import has_gpu
from gpuguide.measure import Study, cp, end_to_end
from gpuguide.topics.several_gpus.kernels import INTEGRATE_SOURCE

PIECES = 64  # each on one GPU; their areas are compared
SLICES = 2**16  # of a piece at most, with a thread for each: four million in all


def count():
    """Count the GPUs that this process sees; 0 without one."""
    return int(cp.cuda.runtime.getDeviceCount()) if has_gpu() else 0


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
    device = cp.cuda.Device(number)
    with device:
        stream = cp.cuda.Stream(non_blocking=True)
    return SimpleNamespace(number=number, device=device, stream=stream)


def cut(n, gpus):
    """Cut n things into about equal parts: each GPU with the begin and the end of its part."""
    return [(gpu, n * g // len(gpus), n * (g + 1) // len(gpus)) for g, gpu in enumerate(gpus)]


def gather(parts, out):
    """Bring the parts of a result to the current GPU, when each GPU has made its own."""
    out = cp.asarray(out)
    for (gpu, begin, end), part in parts:
        gpu.stream.synchronize()
        out[begin:end] = part.copy()


def on_gpus(name, call, label, missing="", **options):
    """Return a call on some GPUs; where these are missing, its rows say so and nothing is timed."""
    note = f"{label}."
    return end_to_end(
        call, label, name=name, arrays="numba", note=note, missing=missing, **options
    )


needs_two = partial(lacking, 2)


def plan(n):
    """Return how many slices a piece has, and how many points a slice has."""
    slices = min(max(1, n // PIECES), SLICES)
    return slices, max(1, n // PIECES // slices)


@cache
def integrate_kernel(source):
    """Make the kernel of a source: the area of the slice that begins at `left`."""
    return cp.ElementwiseKernel(
        "float64 left, int64 points, float64 step", "float64 area", source, "integrate"
    )


def areas_of(begin, end, first, n, source):
    """Integrate 4 / (1 + x^2) over some pieces of length 1 / 64, on the current GPU."""
    slices, points = plan(n)
    width = 1 / PIECES / slices
    left = first + cp.arange(begin * slices, end * slices) * width
    areas = integrate_kernel(source)(left, points, width / points)
    return areas.reshape(end - begin, slices).sum(axis=1)


def shared(n_gpus, first, n, out):
    """Share the pieces out among the first GPUs, and launch on all of them before waiting for any."""
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


def of_areas():
    """Return what the studies of the integral share."""
    return {
        "inputs": lambda n, dtype, rng, exact: (0.0 if exact else float(rng.random()), n),
        "input_note": "where the first piece begins, at random; all else is made on the GPUs",
        "check": Near(areas_reference),
        "answer": lambda first, n: areas_reference(first, n)[0],
        "output": lambda n, dtype: ((PIECES,), np.float64),
        "dtype": "float64",
        "size_name": "points",
        "small": (),
    }


integral = Study(
    name="integral",
    title="An integral, its pieces shared out among GPUs",
    sizes=(2**24, 2**37),
    baseline="one",
    variants=(
        on_gpus("one", partial(shared, 1), "1 GPU"),
        on_gpus("two", partial(shared, 2), "2 GPUs", needs_two),
    ),
    **of_areas(),
)
