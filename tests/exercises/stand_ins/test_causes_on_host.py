"""The message of a host exercise names the cause: a right answer with one mistake, and what is said of it."""

from __future__ import annotations

import pytest
from pool_answers import WRONG, changed, judged

FORK, REUSE, MEAN, LYING = "fork_and_join", "reuse_a_buffer", "any_grouping", "lying_benchmark"
COMPILE, REFINE = "compile_once", "refine"

# Exercise; what stands in its solution and what replaces it; what is said.
CAUSES = {
    "a kernel that is asked for twice": (
        FORK, "        prepare()\n", "        prepare()\n        prepare()\n",
        "prepare was asked for 2 times, and not once.",
    ),
    "a kernel that is forgotten": (FORK, "        join()\n", "        pass\n", "join was never asked for."),
    "an event that is recorded too early": (
        FORK, "    with one:\n        prepare()\n    two.wait_event(one.record())",
        "    two.wait_event(one.record())\n    with one:\n        prepare()",
        "no event recorded after the one is waited for before the other.",
    ),
    "one stream": (FORK, "with two:", "with one:", "but all four kernels are in one stream."),
    "one stream for three": (
        REUSE, "copy_in, compute, copy_out = streams", "copy_in = compute = copy_out = streams[0]",
        "All steps are in one stream, where nothing overlaps.",
    ),
    "one pair of two": (
        REUSE, "    worked, fetched = [], []\n", "    worked, fetched, pairs = [], [], pairs[:1]\n",
        "Only 1 of 2 pairs is used.",
    ),
    "an event that is recorded too late": (
        FORK, "    two.wait_event(one.record())  # before left, which right does not need\n    with one:\n"
        "        left()\n", "    with one:\n        left()\n    two.wait_event(one.record())\n",
        "In line 10, right begins only when left has ended, which it has no use for: line 8 lets its stream "
        "wait for that.",
    ),
    "a kernel in no stream": (
        FORK, "    with two:\n        right()\n", "    right()\n",
        "In line 9, right is in none of the given streams: put it into one, by a with statement around it.",
    ),
    "a copy in no stream": (
        REUSE, "x.set(x_host[i], stream=copy_in)", "x.set(x_host[i])",
        "In line 10, the copy of x_host[0] into x of pair 0 is in none of the given streams: put it into "
        "one, by stream=.",
    ),
    "all in no stream, and a wait for another one": (
        FORK, "one, two = streams\n", "one, two = streams\n    prepare(), left(), right(), join()\n"
        "    return one.synchronize()\n", "In line 4, join is in none of the given streams",
    ),
    "a wait for the copy out, where the work is what counts": (
        REUSE, "copy_in.wait_event(worked[before])", "copy_in.wait_event(fetched[before])",
        "In line 10, the copy of x_host[2] into x of pair 0 begins only when the copy of out of pair 0 into "
        "out_host[0] has ended, which it has no use for: line 9 lets its stream wait for that.",
    ),
    "a stream for each pair": (
        REUSE, "    copy_in, compute, copy_out = streams\n", "    for i in range(len(x_host)):\n"
        "        x, out = pairs[i % len(pairs)]\n        with streams[i % len(pairs)]:\n"
        "            x.set(x_host[i])\n            work(x, out)\n"
        "            out.get(out=out_host[i], blocking=False)\n"
        "    return [stream.synchronize() for stream in streams]\n",
        "In line 6, the copy of x_host[2] into x of pair 0 begins only when the copy of out of pair 0 into "
        "out_host[0] has ended, which it has no use for: both are in one stream.",
    ),
    "an identity that counts": (
        MEAN, "(0, 0), finish", "(0, 1), finish",
        "finish(reduce_two(reduce_two(identity, map_one(6)), identity)) must be 6.0; got 2.0.",
    ),
    "parts in another order": (
        MEAN, "map_one, reduce_two, (0, 0)", "(0, 0), map_one, reduce_two",
        "map_one, the first of the four, must be a function; got (0, 0).",
    ),
    "two figures the other way round": (
        "fair_comparison", "return tuple(times)", "return times[::-1]", "came the other way round.",
    ),
    "a part of the result": (
        "fair_comparison", "out_device.get(out=out)", "out_device[0].get(out=out[0])",
        "Only 1200 of 240000 bytes were copied back to the host.",
    ),
    "half of the image, taken twice": (
        "fair_comparison", "    out = np.empty_like(image)\n",
        "    times = compare_half(np, cp, clock, blur, image[: len(image) // 2])\n"
        "    return tuple(2 * time for time in times)\n\n\ndef compare_half(np, cp, clock, blur, image):\n"
        "    out = np.empty_like(image)\n",
        "Only 30000 of 60000 elements were blurred while the clock ran.",
    ),
    "copy and work the other way round": (
        "copy_and_work", "return copied - start, done - copied", "return done - copied, copied - start",
        "(copy_s, work_s) was expected, and the two figures came the other way round.",
    ),
    "milliseconds of copies and work": (
        "copy_and_work", "return copied - start, ", "return 1000 * (copied - start), ",
        "the figure is 20.4 s. It is 1000 times as large: these are milliseconds, and seconds are wanted.",
    ),
    "milliseconds of a comparison": (
        "fair_comparison", "times.append(clock() - start)", "times.append(1000 * (clock() - start))",
        "the figure is 304 ms. It is 1000 times as large: these are milliseconds, and seconds are wanted.",
    ),
    "a copy that is not waited for": (
        "copy_and_work", "    synchronize()\n    copied", "    copied",
        "The clock stopped while the GPU was still busy: a copy of 200000 bytes had 19.6 ms left.",
    ),
    "one of two copies": (
        "copy_and_work", "    start = clock()\n    a_device, b_device = cp.asarray(a), cp.asarray(b)\n",
        "    b_device = cp.asarray(b)\n    synchronize()\n    start, a_device = clock(), cp.asarray(a)\n",
        "Only 200000 of 400000 bytes were copied to the GPU while this clock ran.",
    ),
    "the time of both for the work": (
        "copy_and_work", "done - copied", "done - start",
        "the figure is 22.4 ms. That is the time of both together: the copies and the work.",
    ),
    "other work than the product": (
        "copy_and_work", "cp.dot(", "(lambda a, b: (a * b).sum())(",
        "The product by cp.dot is one kernel; the kernel 'multiply float32' and the kernel 'sum",
    ),
    "a product of parts": (
        "copy_and_work", "cp.dot(a_device, b_device)", "cp.dot(a_device[:100], b_device[:100])",
        "The kernel 'dot float32' read and wrote 804 bytes; the two vectors have 400000.",
    ),
    "a wait for a stream that nothing is in": (
        "copy_and_work", "cp.cuda.Device().synchronize", "cp.cuda.Stream().synchronize",
        "The wait in line 9 is for a stream without this work.",
    ),
    "a mean of none": (
        MEAN, " if a[1] else limit", "",
        "For the readings [5, 5] and limit = 5, the function raised ZeroDivisionError",
    ),
    "milliseconds": (
        LYING, "return median(", "return 1000 * median(",
        "which is 1000 times as much: the time is wanted in seconds.",
    ),
    "too few samples, without the one that compiled": (
        LYING, "N_SAMPLES = 15", "N_SAMPLES = 2",
        "There were 2 samples, and others disturbed 2 of 3 runs: take more samples.",
    ),
    "numbers of single precision": (
        COMPILE, "dtype=np.float64)", "dtype=np.float32)).astype(np.float64",
        "It was computed in float32.",
    ),
    "a type without a signature": (
        COMPILE, "jit(smooth)\n    return [compiled(np.ascontiguousarray(signal, dtype=np.float64))",
        "jit('float64[::1](float64[::1])')(smooth)\n    return [compiled(signal)",
        "No matching definition for argument type(s) array(float32, 1d, C); there is one for array(float64, "
        "1d, C).",
    ),
    "a signature for each layout": (
        COMPILE, "jit(smooth)", "jit(['float64[::1](float64[::1])', 'float64[:](float64[:])'])(smooth)",
        "one for each signature, called or not: array(float64, 1d, C); array(float64, 1d, A). Bring the "
        "signals to one layout: their dtype is one.",
    ),
    "a function that is called as it is": (
        COMPILE, "[compiled(np", "[smooth(np",
        "not every signal went through a compiled function: smooth itself was called (line 7).",
    ),
    "an option that the compiler does not have": (
        COMPILE, "jit(smooth)", "jit(fast=True)(smooth)", "Unrecognized options: ['fast'].",
    ),
    "a launch that is refused in vain": (
        "grid_arithmetic", "2**31 - 1, 65_535, 65_535", "2**31 - 2, 65_535, 65_535",
        "CUDA allows this launch: the grid must be (2147483647,).",
    ),
    "one weight": (
        "cpu_or_gpu", "return ", "return (mass.size == 1) + ",
        "With 1 weight of float32 on the CPU the result must be 0.0; got 1.0.",
    ),
    "a number of Python": (
        "cpu_or_gpu", "return (places * mass).sum() / mass.sum()",
        "return ((places * mass).sum() / mass.sum()).item()",
        "the result is a number of Python: float() and item() make one, which has no dtype and is on",
    ),
    "a copy of a warmed-up service": (
        "warm_start", "return make_service(cp)", "return __import__('copy').deepcopy(trial)",
        "the function raised TypeError: cannot pickle 'module' object.",
    ),
    "a service that was cleared by hand": (
        "warm_start", "    return make_service(cp)", "    trial.largest = {}\n    return trial",
        "it has answered requests of float32. Do not clear what it remembers: return a new one.",
    ),
    "requests that no client sends": (
        "warm_start", "np.ones(2, dtype)", "cp.ones(2, dtype)",
        "answer takes an array of NumPy, as clients send it; got cupy.ndarray.",
    ),
    "new arrays in the place of the old ones": (
        "halo_exchange", "def halo_exchange(slabs, width):\n",
        "def halo_exchange(slabs, width):\n    return [slab.copy() for slab in slabs]\n",
        "No row changed, and what was returned is not used: write into the arrays.",
    ),
    "a column that is left out": (
        "halo_exchange", "below[:width] = above[-2 * width : -width]",
        "below[:width, :-1] = above[-2 * width : -width, :-1]",
        "column 3 of row 0 of slab 1, which a neighbour has, was not fetched.",
    ),
    "rows of fewer digits": (
        "halo_exchange", "below[:width] = above[-2 * width : -width]",
        "below[:width] = above[-2 * width : -width].astype('float32')",
        "row 0 of slab 1, which a neighbour has, does not have the neighbour's numbers.",
    ),
    "an entry that is left out": (
        "block_interface", "{**interface, ", "{**{key: interface[key] for key in ('typestr', 'version')}, ",
        "'stream' is missing.",
    ),
    "an entry that is added": (
        "block_interface", "{**interface, ", "{**interface, 'mask': None, ",
        "'mask' was added; interface has no such entry.",
    ),
    "another error": (
        "grid_arithmetic", "raise ValueError", "raise OverflowError", "expected ValueError.",
    ),
    "twice the rate": (
        "latency_and_rate", "float(1 / slope)", "float(2 / slope)",
        "1024 bytes in 14.6 µs; 16384 bytes in 14.9 µs; 262144 bytes in 19.8 µs; ..., the rate must be "
        "5e+10 bytes per second within 5 %; got 1e+11.",
    ),
    "seconds per byte": (
        "latency_and_rate", "float(1 / slope)", "float(slope)", "got 2e-11, which is one divided by it.",
    ),
    "the rate first": (
        "latency_and_rate", "float(latency_s), float(1 / slope)", "float(1 / slope), float(latency_s)",
        "the two numbers are swapped: the latency comes first.",
    ),
    "no wait at all": (
        "fill_in_wait", "    gpu.synchronize()\n", "",
        "The clock stopped after the launch, while the work was still going on",
    ),
    "a clock that starts too early": (
        "fill_in_wait", "    gpu.synchronize()\n    start = gpu.clock()\n",
        "    start = gpu.clock()\n    gpu.synchronize()\n", "The clock started while the GPU was still busy",
    ),
    "a thousand times the seconds": (
        "fill_in_wait", "return gpu.clock() - start", "return 1000 * (gpu.clock() - start)",
        "That is 1000 times as much: seconds are asked for.",
    ),
    "two calls for one": (
        "fill_in_wait", "    gpu.synchronize()\n    return", "    work()\n    gpu.synchronize()\n    return",
        "Between the two readings work was called 2 times.",
    ),
    "a clock of its own": (
        "fill_in_wait", "return gpu.clock() - start", "return start",
        "gpu.clock() was called 1 time; it takes two readings",
    ),
    "a preparation while the clock runs": (
        LYING, "        operation.prepare()\n        gpu.synchronize()  # the preparation must be finished\n"
        "        start = gpu.clock()\n", "        start = gpu.clock()\n        operation.prepare()\n",
        "The clock ran while the data were restored",
    ),
    "the smallest of good samples": (
        LYING, "return median", "return min",
        "The 15 samples have a median of 12.0 ms, and 10.8 ms was returned, the smallest:",
    ),
    "a loop until a residual is zero, which it never is": (
        REFINE, "for _ in range(N_CORRECTIONS)", "while abs(b - a @ x).max() > 0",
        "For 5 unknowns the function had not ended after 100 calls of solve. At most 10 are allowed, and the "
        "last two vectors that it got had numbers up to",
    ),
    "a loop that corrects nothing": (
        REFINE, "        x = x + solve(", "        while residual.any():\n            x + solve(",
        "had numbers up to 1.2e-08 and 1.2e-08.",
    ),
    "samples until they agree to the last digit": (
        LYING, "for _ in range(N_SAMPLES):", "while len(samples) < 2 or max(samples) > min(samples):",
        "On a machine that is all yours the function had not ended after 40000 requests to the GPU and "
        "readings of the clock.",
    ),
    "kernels without end": (
        FORK, "        prepare()\n", "        while True:\n            prepare()\n",
        "the function had not ended after 1000 steps that it asked the GPU for.",
    ),
    "launches without end": (
        "one_launch", "    return x * factors[:, cp.newaxis]",
        "    out = cp.empty_like(x)\n    while True:\n        out[0] = x[0] * factors[0]",
        "For a table of 4 rows and 6 columns the function had not ended after 40000 requests",
    ),
    "an array of the other library": (
        "fill_in_either", "xp.square(a)", "cp.asnumpy(xp.square(a))",
        "For int32 on the GPU the result must be an array of CuPy; got",
    ),
    "a residual in single precision": (
        REFINE, "b - a @ x", "b.astype('float32') - narrow @ x.astype('float32')",
        "In line 9 the matrix that is multiplied is float32: a residual needs it in float64.",
    ),
    "a residual of the narrow matrix": (
        REFINE, "a @ x", "narrow.dot(x)", "In line 9 the matrix that is multiplied is float32",
    ),
    "a solution in single precision": (
        REFINE, "return x", "return x.astype('float32').astype('float64')",
        "1.8e-08 after 7 solutions; below 1e-14 is wanted. Each number of the result has the digits of "
        "float32 alone.",
    ),
}  # fmt: skip


def said(name: str, source: str) -> list[str]:
    return [finding.message for finding in judged(name, source).findings]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_division_by_a_residual_of_zero_is_found_where_solve_gets_it() -> None:
    scaled = 'abs(residual).max() * solve(narrow, (residual / abs(residual).max()).astype("float32"))'
    source = changed(REFINE, ('solve(narrow, residual.astype("float32"))', scaled))
    assert "In call 3 solve got a vector with NaN or infinity in it." in said(REFINE, source)[0]


@pytest.mark.parametrize("title", CAUSES)
def test_the_cause_is_named(title: str) -> None:
    name, right, wrong, words = CAUSES[title]
    assert words in " ".join(said(name, changed(name, (right, wrong))))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("counts_beside", "Four new parts give the right answer for these readings alone."),
        ("limit_beside", "After these, others were made for limit = 100:"),
    ],
)
def test_parts_that_share_something_are_told_apart_from_wrong_ones(path: str, words: str) -> None:
    source = WRONG / f"any_grouping_{path}.py"
    assert words in " ".join(said(MEAN, source.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", ["in_16_bits", "distinct_readings"])
def test_a_few_readings_show_what_is_wrong_with_a_mean(path: str) -> None:
    """One that is put together by hand."""
    source = WRONG / f"any_grouping_{path}.py"
    assert "finish(reduce_two(" in " ".join(said(MEAN, source.read_text(encoding="utf-8")))


def measuring(n: int, returned: str) -> str:
    """A benchmark without a first run that nobody times."""
    return changed(
        LYING,
        ("    operation.run()  # the first run compiles\n", ""),
        ("N_SAMPLES = 15", f"N_SAMPLES = {n}"),
        ("median(samples)", returned),
    )


@pytest.mark.parametrize("returned", ["samples[-1]", "median(samples[1:])"])
def test_a_sample_that_is_not_in_the_figure_is_not_blamed(returned: str) -> None:
    """The first one compiled, while the clock ran, and was thrown away."""
    (message,) = said(LYING, measuring(3, returned))
    assert message.endswith("take more samples.")


@pytest.mark.parametrize(
    ("n", "returned", "words"),
    [
        (
            3,
            "sum(samples) / 3",
            "68.0 ms was returned, their mean. The first call of the kernel 'run' compiled it",
        ),
        (
            9,
            "max(samples)",
            "188 ms was returned, the largest. The first call of the kernel 'run' compiled it",
        ),
        (3, "min(samples)", "There were 3 samples, and others disturbed 2 of 3 runs: take more samples."),
        (
            9,
            "min(samples[1:])",
            "have a median of 12.0 ms, and 10.8 ms was returned, the smallest: 2 runs took",
        ),
        (
            9,
            "sum(samples[1:]) / 8",
            "8 of 9 samples have a median of 8.01 ms, and 10.6 ms was returned, their mean",
        ),
        (5, "median(samples)", "of 15.2 ms: 2 runs took more time or less than usual, and one compiled its"),
    ],
)
def test_it_is_said_what_of_which_samples_a_figure_is(n: int, returned: str, words: str) -> None:
    """The first one compiled: that explains a mean of all or their largest, and nothing else."""
    (message,) = said(LYING, measuring(n, returned))
    assert words in message
    assert ("compiled" in words) == ("compiled" in message)


def test_times_that_are_subtracted_are_no_mistake() -> None:
    """Ten runs in a row, less ten preparations, are one sample."""
    (message,) = said(
        LYING,
        """
def measure(gpu, operation):
    def of_ten(*steps):
        gpu.synchronize()
        start = gpu.clock()
        for _ in range(10):
            for step in steps:
                step()
        gpu.synchronize()
        return gpu.clock() - start

    of_ten(operation.prepare, operation.run)
    return (of_ten(operation.prepare, operation.run) - of_ten(operation.prepare)) / 10
""",
    )
    assert "prepare before it starts" not in message
