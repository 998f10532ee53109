"""A thousand Jacobi steps: launched one by one, as a graph, in one launch; and until they have converged."""

from functools import cache, partial
from importlib import import_module
from importlib.metadata import version

import numpy as np
from numba import cuda, float32, int64, njit, prange

from gpuguide.machine.backends import array_module, numba_view, raw_kernel
from gpuguide.machine.device import require_gpu
from gpuguide.measure import (
    Study,
    cp,
    cpu,
    end_to_end,
    gpu,
    uniform,
    whole_numbers,
)
from gpuguide.measure.timing import time_device
from gpuguide.measure.turns import gpu_clock
from gpuguide.topics.graphs import kernels
from gpuguide.topics.graphs.kernels import cpu_steps, decide_source, jacobi_step

STEPS = 1000
WEIGHT = np.float32(1 / 33)
BLOCK = 256
LARGE_BLOCK = 1024


def grid(n, threads=BLOCK):
    """Count the blocks that give each number a thread."""
    return -(-n // threads)


@cache
def room(n):
    """Make room once for a second signal, as CuPy and as Numba take it."""
    spare = cp.empty(n, np.float32)
    return spare, numba_view(spare)


# Ways to launch a step --------------------------------------------------------------------------------------


def between_two(launch, noisy, spare, out, steps=STEPS):
    """Launch an even number of steps, from one array into the other; the last writes `out`."""
    now = noisy
    for step in range(steps):
        then = out if step % 2 else spare
        launch(noisy, now, then)
        now = then


def launch_numba(noisy, now, then):
    """Launch the kernel in Numba, on whatever arrays come."""
    jacobi_step[grid(then.size), BLOCK](noisy, now, then)


def four_calls(noisy, now, then):
    """Call four ufuncs of CuPy, or of NumPy, that make no new array and leave both ends as they are."""
    xp, middle = array_module(then), then[1:-1]
    xp.add(now[:-2], now[2:], out=middle)
    middle *= np.float32(16)
    middle += noisy[1:-1]
    middle *= WEIGHT


@cache
def elementwise():
    """Describe a step as an ElementwiseKernel, which CuPy compiles."""
    return cp.ElementwiseKernel(
        "float32 noisy, raw float32 now, int32 n",
        "float32 then",
        "then = i > 0 && i < n - 1 ? (noisy + 16.0f * (now[i - 1] + now[i + 1])) * (1.0f / 33) : noisy",
        "jacobi_elementwise",
    )


def one_call(noisy, now, then):
    """Call an ElementwiseKernel."""
    elementwise()(noisy, now, np.int32(then.size), then)


raw_step = raw_kernel(kernels.jacobi_source, "jacobi_step")
raw_empty = raw_kernel(kernels.empty_source, "empty_step")


def launch_raw(noisy, now, then, threads=BLOCK):
    """Launch the kernel in CUDA C++ through CuPy."""
    blocks = grid(then.size, threads)
    raw_step.compiled((blocks,), (threads,), (noisy, now, then, np.int32(then.size)))


def launch_empty(noisy, now, then):
    """Launch the kernel that does nothing, with the arguments and the threads of a step."""
    raw_empty.compiled((grid(then.size),), (BLOCK,), (noisy, now, then, np.int32(then.size)))


# A thousand steps -------------------------------------------------------------------------------------------


def cpu_loop(noisy, out):
    """Do the steps in compiled loops on one thread."""
    cpu_steps(noisy, out, np.empty_like(out), STEPS)


def cupy(noisy, out):
    """Launch the steps as four calls of CuPy each."""
    noisy, spare, out = (cp.asarray(x) for x in (noisy, room(out.size)[0], out))
    spare[:] = out[:] = noisy
    between_two(four_calls, noisy, spare, out)


def on_cupy_arrays(launch, noisy, out):
    """Launch the steps one by one, on CuPy's arrays."""
    between_two(launch, cp.asarray(noisy), room(out.size)[0], cp.asarray(out))


def views(noisy, out):
    """Launch the steps one by one in Numba, on views made once."""
    between_two(launch_numba, noisy, room(out.size)[1], out)


@cache
def core(source=kernels.jacobi_source, name="jacobi_step"):
    """Compile a kernel in CUDA C++ by cuda.core, and import the package."""
    package = import_module("cuda.core")
    package.Device().set_current()
    options = package.ProgramOptions(arch=f"sm_{package.Device().arch}")
    program = package.Program(source, "c++", options)
    return package, program.compile("cubin").get_kernel(name)


def why_no_core():
    """Say why cuda.core is not there; empty if it is."""
    try:
        import_module("cuda.core")
    except ImportError as error:
        return f"cuda.core is not installed: {error}"
    return ""


def core_version():
    """Return the version of cuda.core, or that it is not there."""
    return "not installed" if why_no_core() else version("cuda-core")


def cuda_core(noisy, out):
    """Launch the steps one by one by cuda.core, which takes addresses."""
    package, kernel = core()
    stream = package.Stream.from_handle(cp.cuda.get_current_stream().ptr)
    config = package.LaunchConfig(grid=grid(out.size), block=BLOCK)
    noisy, spare, out = (cp.asarray(x) for x in (noisy, room(out.size)[0], out))
    n = np.int32(out.size)

    def launch(*arrays):
        package.launch(stream, config, kernel, *arrays, n)

    between_two(launch, noisy.data.ptr, spare.data.ptr, out.data.ptr)


def launch_early(noisy, now, then, threads=LARGE_BLOCK, early=True):
    """Launch by cuda.core a kernel that may start before the one before it has ended."""
    package, kernel = core(kernels.early_source, "early_step")
    stream = package.Stream.from_handle(cp.cuda.get_current_stream().ptr)
    config = package.LaunchConfig(
        grid=grid(then.size, threads), block=threads, programmatic_stream_serialization=early
    )
    addresses = (x.data.ptr for x in (noisy, now, then))
    package.launch(stream, config, kernel, *addresses, np.int32(then.size))


def why_not_early():
    """Say why no kernel can start early here; empty if one can."""
    if reason := why_no_core():
        return reason
    package = import_module("cuda.core")
    if not hasattr(package.LaunchConfig, "programmatic_stream_serialization"):
        return f"cuda.core {core_version()} cannot let a kernel start early; 1.2 and newer can"
    major, minor = require_gpu().compute_capability
    if major < 9:
        return (
            "a kernel that starts early takes a GPU of compute capability 9.0 or newer; "
            f"this one has {major}.{minor}"
        )
    return ""


@cache
def blocks_at_once():
    """Ask the driver once how many blocks may wait for one another; to ask takes a while."""
    signal = float32[::1]
    compiled = kernels.all_steps.compile((signal, signal, signal, int64))
    return compiled.max_cooperative_grid_blocks(BLOCK)


def all_steps(noisy, out):
    """Do all steps in one launch, in which blocks wait for one another by grid.sync()."""
    blocks = min(grid(out.size), blocks_at_once())
    kernels.all_steps[blocks, BLOCK](noisy, room(out.size)[1], out, STEPS)


def capture(call):
    """Record on CuPy's current stream what a call launches, without running it, as a ``cupy.cuda.Graph``."""
    stream = cp.cuda.get_current_stream()
    with cuda.defer_cleanup():  # freeing memory would end a capture
        stream.begin_capture()
        call()
        return stream.end_capture()


def kept_graph(launch, steps, noisy, out):
    """Return the graph of some steps on these arrays, recorded when it is first asked for."""
    # A graph keeps addresses, so it is kept with the array. Nothing here may wait for the GPU.
    graphs, key = vars(out).setdefault("graphs", {}), (launch, steps)
    if key not in graphs:
        arrays = (noisy, room(out.size)[1], out)
        if launch is not launch_numba:
            arrays = tuple(cp.asarray(x) for x in arrays)
        first, spare, last = arrays
        launch(first, spare, last)  # compiled and loaded before anything is recorded
        cp.copyto(cp.asarray(spare), cp.asarray(noisy))  # both ends stay as they are
        # A round of fewer steps goes on from where the one before it ended.
        begin = first if steps == STEPS else last
        graphs[key] = capture(partial(record, launch, first, begin, spare, last, steps))
    return graphs[key]


def record(launch, noisy, now, spare, out, steps):
    """Launch an even number of steps, the first of which reads `now`."""
    for step in range(steps):
        then = out if step % 2 else spare
        launch(noisy, now, then)
        now = then


def replay(launch, steps, noisy, out):
    """Launch the graph of some steps as often as a thousand steps take."""
    graph = kept_graph(launch, steps, noisy, out)
    if steps < STEPS:
        cp.copyto(cp.asarray(out), cp.asarray(noisy))
    for _ in range(STEPS // steps):
        graph.launch()


def record_and_replay(noisy, out):
    """Record a graph of all steps, and launch it once."""
    capture(partial(views, noisy, out)).launch()


def graph_of(steps, **options):
    """Return a variant that launches a graph of so many of Numba's launches."""
    label, name = f"graph of {steps} steps", f"graph_of_{steps}"
    return rung(partial(replay, launch_numba, steps), label, name=name, **options)


def rung(call, label, **options):
    """Describe a way, from the call until the GPU is done; the arrays are there already."""
    return end_to_end(call, label, arrays="numba", **options)


PIECE = 8192


def smooth_reference(noisy, steps=STEPS):
    """Return the smoothed signal, in the memory that holds the noisy one."""
    host = noisy.get() if hasattr(noisy, "get") else noisy
    return array_module(noisy).asarray(smooth_in_pieces(host, steps))


@njit(parallel=True)
def smooth_in_pieces(noisy, steps):
    """Smooth a piece after the other, each with as many neighbours on both sides as there are steps.

    What is wrong at the cut ends of a piece comes one number further in each step, and never into the piece.
    """
    out = np.empty_like(noisy)
    for piece in prange((noisy.size + PIECE - 1) // PIECE):
        begin, end = piece * PIECE, min(noisy.size, (piece + 1) * PIECE)
        left, right = max(0, begin - steps), min(noisy.size, end + steps)
        own = noisy[left:right]
        now, then = own.copy(), own.copy()
        for _ in range(steps):
            before, after, inner, fresh = now[:-2], now[2:], own[1:-1], then[1:-1]
            for i in range(fresh.size):
                fresh[i] = (inner[i] + np.float32(16) * (before[i] + after[i])) * np.float32(
                    1 / 33
                )
            now, then = then, now
        for i in range(begin, end):
            out[i] = now[i - left]
    return out


def noisy_signal(n, dtype, rng, exact):
    """Return a slow wave with noise; of multiples of 1/64 for the exact check."""
    wave = np.sin(np.arange(n) / 100)
    noise = whole_numbers(rng, n, 64, dtype) / 64 if exact else uniform(rng, n, dtype)
    wave = np.round(64 * wave) / 64 if exact else wave
    return ((wave + noise).astype(dtype),)


signals = {
    "size_name": "numbers",
    "inputs": noisy_signal,
    "input_note": "a slow wave and uniform noise; multiples of 1/64 for the exact check",
    "small": (),  # a thousand launches of each
}

thousand = Study(
    name="thousand",
    title=f"{STEPS} Jacobi steps on a noisy signal, float32",
    sizes=(10**4, 10**5, 10**6, 10**7),
    reference=smooth_reference,
    equal=True,  # times 16 is exact, so that all round alike
    baseline="views",
    variants=(
        cpu(cpu_loop, "CPU, one thread, compiled", up_to=10**5),
        rung(cupy, "CuPy, four calls per step", up_to=10**5),
        rung(
            partial(on_cupy_arrays, one_call),
            "CuPy, one call per step",
            name="elementwise",
            up_to=10**5,
        ),
        rung(
            partial(on_cupy_arrays, launch_numba),
            "Numba, CuPy arrays",
            name="cupy_arrays",
            up_to=10**5,
        ),
        rung(views, "Numba, views made once"),
        rung(partial(on_cupy_arrays, launch_raw), "RawKernel", name="raw"),
        rung(cuda_core, "cuda.core", missing=why_no_core, up_to=10**5),
        graph_of(2, up_to=10**5),
        graph_of(50, up_to=10**5),
        graph_of(STEPS),
        rung(
            partial(replay, launch_raw, STEPS),
            f"graph of {STEPS} steps in CUDA C++",
            name="graph_of_raw",
        ),
        rung(
            partial(replay, launch_early, STEPS),
            f"graph of {STEPS} steps that start early",
            name="graph_of_early",
            missing=why_not_early,
        ),
        rung(
            partial(replay, four_calls, 50),
            "graph of CuPy's calls, 50 steps",
            name="graph_of_cupy",
            up_to=10**5,
        ),
        rung(record_and_replay, "record a graph, launch it once", up_to=10**5),
        rung(all_steps, "one launch, grid.sync()", up_to=10**5),
    ),
    **signals,
)

# From one kernel to the next --------------------------------------------------------------------------------


def alone(launch, label, name, **options):
    """Describe the graph of all steps, timed by the GPU's clock."""
    note = f"A graph of {STEPS} kernels, by the GPU's clock."
    call = partial(replay, launch, STEPS)
    return gpu(call, label, name=name, arrays="numba", note=note, **options)


def raw_with(threads):
    """Describe the kernel in CUDA C++ in blocks of so many threads."""
    launch = partial(launch_raw, threads=threads)
    return alone(launch, f"CUDA C++, {threads} threads per block", f"raw_{threads}")


def early_with(label, name, **options):
    """Describe the kernel that may start early, in some launch."""
    return alone(partial(launch_early, **options), label, name, missing=why_not_early)


chain = Study(
    name="chain",
    title=f"A graph of {STEPS} kernels, one after the other, float32",
    sizes=(10**4, 10**5, 10**6),
    reference=smooth_reference,
    equal=True,
    baseline="numba",
    variants=(
        alone(launch_numba, f"Numba, {BLOCK} threads per block", "numba"),
        raw_with(64),
        raw_with(BLOCK),
        early_with(f"starts early, {LARGE_BLOCK} threads per block", "early"),
        early_with(f"starts early, {BLOCK} threads per block", "early_256", threads=BLOCK),
        # In large blocks; only its launch differs from that of "early".
        early_with("the same kernel, launched as usual", "early_as_usual", early=False),
    ),
    **signals,
)


def time_empty(n):
    """Time a graph of kernels that do nothing, with a thread for each of n numbers, by the GPU's clock."""
    x, clock = cp.empty(n, np.float32), gpu_clock()
    with clock.use():
        launch_empty(x, x, x)  # compiled and loaded
        graph = capture(partial(record, launch_empty, x, x, x, x, STEPS))
    return time_device(graph.launch, clock).seconds


# Until it has converged -------------------------------------------------------------------------------------

ENOUGH = np.float32(1e-5)
ROUND = 50
MOST = 100 * ROUND


class SolutionCheck:
    """Every number lies within 0.00035 of the solution by elimination, as small changes promise."""

    # An error shrinks to 32/33 in a step, so that it is at most 32 times the last change, and rounding.
    tolerance = 35 * float(ENOUGH)

    def prepare(self, inputs):
        """Solve the equations that the steps approach."""
        noisy = inputs[0].get() if hasattr(inputs[0], "get") else inputs[0]
        return eliminate(noisy.astype(np.float64))

    def compare(self, output, prepared):
        """Return the largest distance from the solution."""
        xp = array_module(output)
        return float(xp.abs(output - xp.asarray(prepared)).max()), self.tolerance


@njit
def eliminate(noisy):
    """Solve ``33 x[i] - 16 (x[i - 1] + x[i + 1]) = noisy[i]`` with fixed ends, by elimination."""
    x, factors = noisy.copy(), np.zeros(noisy.size)
    for i in range(1, noisy.size - 1):
        pivot = 33 - 16 * factors[i - 1]
        factors[i] = 16 / pivot
        x[i] = (noisy[i] + 16 * x[i - 1]) / pivot
    for i in range(noisy.size - 2, 0, -1):
        x[i] += factors[i] * x[i + 1]
    return x


def largest_change(x, y):
    """Return the largest difference of two arrays; Python waits for it."""
    return float(cp.abs(x - y).max())


def until_small(do_round, steps, noisy, out):
    """Do rounds of steps until the last one of a round changes little; return how many steps that were."""
    spare, out = room(out.size)[0], cp.asarray(out)
    cp.copyto(out, cp.asarray(noisy))
    done = 0
    while done < MOST:
        do_round()
        done += steps
        if largest_change(spare, out) < ENOUGH:
            break
    return done


def launched(steps, noisy, out):
    """Launch rounds of some steps, and look after each whether the change is small."""
    spare = room(out.size)[1]
    do_round = partial(record, launch_numba, noisy, out, spare, out, steps)
    return until_small(do_round, steps, noisy, out)


def replayed(steps, noisy, out):
    """Launch a graph of some steps, and look after each round whether the change is small."""
    graph = kept_graph(launch_numba, steps, noisy, out)
    return until_small(graph.launch, steps, noisy, out)


@cache
def deciders():
    """Compile the two kernels that end a round of a graph that decides by itself."""
    module = cp.RawModule(code=decide_source)
    return module.get_function("largest_change"), module.get_function("decide")


def record_loop(noisy, spare, out):
    """Record rounds of steps in a loop that the GPU ends by itself; return the graph and its arrays."""
    package, _ = core()
    largest_change, decide = deciders()
    change, rounds = cp.zeros(1, np.uint32), cp.zeros(1, np.int32)
    pair, blocks = (cp.asarray(spare), cp.asarray(out)), require_gpu().sm_count

    stream = package.Device().create_stream()
    builder = stream.create_graph_builder().begin_building()
    again = builder.create_condition(default_value=1)
    body = builder.while_loop(again).begin_building()
    with cp.cuda.ExternalStream(int(body.stream.handle)), cuda.defer_cleanup():
        record(launch_numba, noisy, out, spare, out, ROUND)
        largest_change((blocks,), (BLOCK,), (*pair, change, np.int32(out.size)))
        limits = ENOUGH, rounds, np.int32(MOST // ROUND)
        decide((1,), (1,), (np.uint64(int(again.handle)), change, *limits))
    body.end_building()
    return builder.end_building().complete(), rounds, change  # a graph does not keep its arrays


def own_decision(noisy, out):
    """Launch one graph, whose last kernel decides after each round whether there is another one."""
    graphs = vars(out).setdefault("graphs", {})
    if "decides" not in graphs:
        launch_numba(noisy, noisy, out)  # compiled before anything is recorded
        graphs["decides"] = record_loop(noisy, room(out.size)[1], out)
    graph, rounds, _ = graphs["decides"]
    cp.copyto(cp.asarray(out), cp.asarray(noisy))
    rounds.fill(0)
    graph.launch(core()[0].Stream.from_handle(cp.cuda.get_current_stream().ptr))


def why_no_loops():
    """Say why a graph cannot decide by itself here; empty if it can."""
    if reason := why_no_core():
        return reason
    has_loops = hasattr(import_module("cuda.core.graph").GraphBuilder, "while_loop")
    return "" if has_loops else "this version of cuda.core records no loops"


until = Study(
    name="until",
    title="Jacobi steps until they change a noisy signal by less than 0.00001, float32",
    sizes=(10**5,),
    check=SolutionCheck(),
    baseline="look_often",
    variants=(
        rung(partial(launched, 2), "Numba, look after every second step", name="look_often"),
        rung(partial(launched, ROUND), f"Numba, look after {ROUND} steps", name="look_seldom"),
        rung(partial(replayed, ROUND), f"graph of {ROUND} steps, then look", name="graph"),
        rung(own_decision, "graph with a loop", missing=why_no_loops),
    ),
    **signals,
)
