"""A blur on the CPU against the same blur on the GPU, including the copies."""

import numpy as np

from gpuguide.exercises.judging import (
    clock_mistake,
    data_of,
    is_number,
    near,
    refuse,
    require,
    samples_of,
    seconds,
    shown,
)
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Array, Cupy, bounds
from gpuguide.exercises.virtual_gpu import Costs, VirtualGpu

CPU, GPU = "the blur on the CPU", "the blur on the GPU"
SET_UP_S = 3e-3  # of the first blur on the CPU
# In words, bytes per second of the link, of the blur on the CPU and on the GPU, and the image.
MACHINES = (
    ("a slow link", 2e9, 5e7, 2e10, (200, 300), np.float32),
    ("a slow CPU", 5e9, 1e7, 2e9, (128, 257), np.float64),
)


class Blur:
    def __init__(self, gpu, cpu_rate, gpu_rate):
        self.gpu, self.cpu_rate, self.gpu_rate = gpu, cpu_rate, gpu_rate
        self.calls = {CPU: [], GPU: []}

    def __call__(self, source, out):
        name, data = GPU if isinstance(source, Array) else CPU, data_of(source)
        if isinstance(source, Array) != isinstance(out, Array):
            raise TypeError("source and out must both be arrays of the host, or both of the GPU")
        if name == GPU:
            self.gpu.launch(GPU, data.nbytes / self.gpu_rate, (bounds(source),), (bounds(out),))
        else:
            self.gpu.host(CPU, data.nbytes / self.cpu_rate + SET_UP_S * (not self.calls[CPU]))
        self.calls[name].append((self.gpu.log[-1], data.copy(), out.dtype))
        data_of(out)[...] = blurred(data)


def blurred(image):
    return (image + np.roll(image, 1, axis=0)) / 2


def cases():
    for about, link_rate, cpu_rate, gpu_rate, shape, dtype in MACHINES:
        gpu = VirtualGpu(Costs(launch_s=1e-7, wake_s=1e-7, in_rate=link_rate, out_rate=link_rate))
        image = np.random.default_rng(1).integers(0, 255, shape).astype(dtype)
        blur, out = Blur(gpu, cpu_rate, gpu_rate), np.ones_like(image)
        fair = {CPU: image.nbytes / cpu_rate, GPU: image.nbytes * (2 / link_rate + 1 / gpu_rate)}
        text = f"On a machine with {about}, with an image of {image.dtype}"
        yield Case(text, (Cupy(gpu), gpu.clock, blur, image, out), changes=(4,), extra=fair)


def judge(case, times_s):
    cp, _, blur, image, out = case.arguments
    is_pair = isinstance(times_s, tuple | list) and len(times_s) == 2 and all(map(is_number, times_s))
    require(is_pair, f"Expected two numbers of seconds; got {shown(times_s)}.")
    for (name, fair_s), figure_s in zip(case.extra.items(), times_s, strict=True):
        require(bool(blur.calls[name]), f"Nothing called {name}.")
        step, source, dtype = blur.calls[name][-1]
        dtypes = f"The last call of {name} was from {source.dtype} into {dtype}"
        message = f"{dtypes}; the image is {image.dtype}, so that is other work."
        require({source.dtype, dtype} == {image.dtype}, message, (step,))
        message = f"The last call of {name} had another source than the whole image."
        require(np.array_equal(source, image), message, (step,))
        if not near(figure_s, fair_s):
            explain(cp.gpu, name, f"{name} takes {seconds(fair_s)}; the figure is {seconds(figure_s)}.")
    back = cp.gpu.steps("to_host")[-1:]
    first, end = bounds(out)
    message = "What came back from the GPU went into another array than out. A new one costs time."
    require(all(first <= copy.writes[0][0] < end for copy in back), message, back)
    require(np.array_equal(out, blurred(image)), "Afterwards, out did not hold the blurred image.", back)
    return f"{seconds(times_s[0])} on the CPU, {seconds(times_s[1])} on the GPU. (Virtual times.)"


def explain(gpu, name, figures):
    figures = f"In a fair comparison, {figures}"
    samples = samples_of(gpu, name)
    inside = samples[-1].steps if samples else []
    if name == CPU and gpu.steps("host")[0] in inside:
        refuse("wrong", f"{figures} That is the first call, which starts threads.", gpu.steps("host")[:1])
    for kind, way in (("to_device", "to the GPU"), ("to_host", "back to the host")):
        if name == GPU and inside and kind not in [step.kind for step in inside]:
            refuse("wrong", f"{figures} The copy {way} is not between the two readings of the clock.")
    if name == GPU or not samples:
        clock_mistake(gpu, name, figures)
    refuse("wrong", figures)


EXERCISE = HostExercise(
    name="fair_comparison",
    title="A fair comparison",
    level="intermediate",
    minutes=20,
    teaches="Both sides get the same data, dtype and warm buffers, and the GPU's time includes both copies.",
    pages=("maximum_cpu", "convolution", "transfers", "benchmark_well"),
    tags=("measuring", "copies", "dtype", "CuPy"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("        work()  # compiles, and starts threads\n", "", "wrong"),
    Mistake("cp.asarray(image)", "cp.asarray(image, dtype=cp.float32)", "exception"),
    Mistake("blur(image_device, out_device)", "blur(image, out_device)", "exception"),
    Mistake("out_device.get(out=out)", "cp.asnumpy(out_device)", "wrong"),
    Mistake("out_device.get(out=out)", "cp.cuda.Device().synchronize()", "wrong"),
    Mistake("        out_device.get(out=out)  # waits until the result is there\n", "", "wrong"),
    Mistake("out_device.get(out=out)", "image_device.get(out=out)", "wrong"),
    Mistake("(on_cpu, on_gpu)", "(on_gpu, on_cpu)", "wrong"),
)
