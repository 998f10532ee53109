"""The judges of functions: right answers of other kinds pass, verdicts repeat, and findings name the line."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from gpuguide.exercises import get, names
from gpuguide.exercises.model import FunctionTask
from gpuguide.exercises.pool.crossing_point.exercise import CASES
from gpuguide.exercises.pool.rows_apart.exercise import CASES as ROWS_APART
from gpuguide.exercises.pool.rows_apart.exercise import _expected, _inputs
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from study_results import cell, make

WRONG = Path(__file__).parents[1] / "wrong"
FUNCTIONS = [name for name in names() if isinstance(get(name).task, FunctionTask)]


def function(source: str):
    namespace: dict = {}
    exec(compile(source, "<answer>", "exec"), namespace)
    last = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)][-1]
    return namespace[last]


def findings(name: str, source: str) -> list:
    return list(get(name).task.judge(function(source)))


OTHER_RIGHT_ANSWERS = {
    "cpu_or_gpu, by the type": """
def centre_of_mass(np, cp, mass):
    xp = np if isinstance(mass, np.ndarray) else cp
    return xp.dot(xp.arange(mass.size, dtype=mass.dtype), mass) / xp.sum(mass)
""",
    "cpu_or_gpu, by the name of the module": """
def centre_of_mass(np, cp, mass):
    on_gpu = type(mass).__module__.startswith("cupy")
    places = (cp if on_gpu else np).arange(mass.size, dtype=mass.dtype)
    return np.sum(places * mass) / np.sum(mass)
""",
    "cpu_or_gpu, without making an array": """
def centre_of_mass(np, cp, mass):
    places = mass * 0 + 1
    places = places.cumsum(dtype=mass.dtype) - 1
    return (places * mass).sum() / mass.sum()
""",
    "count_transfers, with methods and in place": """
def normalise(cp, image):
    x = cp.array(image)
    x -= x.mean()
    limit = abs(x).mean() * 2
    return (cp.minimum(cp.maximum(x, -limit), limit) / limit).get()
""",
    "count_transfers, with the functions of NumPy": """
import numpy as np
def normalise(cp, image):
    x = cp.asarray(image)
    x = x - np.mean(x)
    limit = 2 * np.mean(np.absolute(x))
    return cp.asnumpy(np.clip(x, -limit, limit) / limit)
""",
    "windows, with an index": """
import numpy as np
def window_means(cp, signal, starts, length):
    begin, end = min(starts), max(starts) + length
    part = cp.array(signal[begin:end])
    places = (np.array(starts) - begin).tolist()
    return cp.asnumpy(cp.stack([part[at : at + length] for at in places]).mean(axis=1))
""",
    "within_the_limit, with new arrays in small chunks": """
import numpy as np
def loudness(cp, x, limit):
    n = max(1, limit // x.itemsize // 8)
    parts = []
    for at in range(0, x.size, n):
        chunk = cp.asarray(x[at : at + n])
        parts.append(cp.asnumpy(cp.log(1 + chunk * chunk) if n > 1 else cp.log1p(chunk * chunk)))
        del chunk
    return np.concatenate(parts) if parts else np.empty_like(x)
""",
    "one_launch, into a new array": """
def scale_rows(cp, x, factors):
    return cp.multiply(x, factors.reshape(-1, 1), out=cp.empty_like(x))
""",
    "one_launch, turned round": """
def scale_rows(cp, x, factors):
    return (x.T * factors).T
""",
    "one_launch, with NumPy's function": """
import numpy as np
def scale_rows(cp, x, factors):
    return np.multiply(x, factors[:, None])
""",
    "copy_and_work, twice and the second counts": """
def copy_and_work(cp, clock, a, b):
    for _ in range(2):
        cp.cuda.Stream.null.synchronize()
        times = [clock()]
        x, y = cp.array(a), cp.array(b)
        cp.cuda.Stream.null.synchronize()
        times.append(clock())
        x @ y
        cp.dot(x, y)
        cp.cuda.Stream.null.synchronize()
        times.append(clock())
        cp.dot(x, y)
        cp.cuda.Stream.null.synchronize()
        times.append(clock())
    return times[1] - times[0], times[3] - times[2]
""",
    "copy_and_work, with float() for the wait": """
def copy_and_work(cp, clock, a, b):
    float(cp.dot(cp.asarray(a), cp.asarray(b)))
    start = clock()
    x, y = cp.asarray(a), cp.asarray(b)
    cp.cuda.runtime.deviceSynchronize()
    middle = clock()
    float(cp.dot(x, y))
    return middle - start, clock() - middle
""",
    "lying_benchmark, the first sample thrown away": """
def measure(gpu, operation):
    samples = []
    for _ in range(12):
        operation.prepare()
        gpu.synchronize()
        gpu.synchronize()
        start = gpu.clock()
        operation.run()
        gpu.synchronize()
        samples.append(gpu.clock() - start)
    return sorted(samples[1:])[5]
""",
    "lying_benchmark, five samples": """
import numpy as np
def measure(gpu, operation):
    operation.run()
    def sample():
        operation.prepare()
        gpu.synchronize()
        start = gpu.clock()
        operation.run()
        gpu.synchronize()
        return gpu.clock() - start
    return np.median([sample() for _ in range(5)])
""",
    "fair_comparison, with buffers of its own": """
def compare(np, cp, clock, blur, image):
    out, back = np.full(image.shape, 1, image.dtype), np.zeros_like(image)
    image_device, out_device = cp.asarray(image), cp.zeros(image.shape, image.dtype)
    blur(image, out)
    blur(image_device, out_device)
    cp.cuda.Device().synchronize()
    start = clock()
    blur(image, out)
    cpu_s = clock() - start
    start = clock()
    image_device.set(image)
    blur(image_device, out_device)
    cp.cuda.Device().synchronize()
    cp.asnumpy(out_device, out=back)
    cp.cuda.Device().synchronize()
    return [cpu_s, clock() - start]
""",
    "fair_comparison, the median of several": """
from statistics import median
def compare(np, cp, clock, blur, image):
    out = np.empty(image.shape, dtype=image.dtype)
    out[...] = 0
    cpu, gpu = [], []
    for _ in range(5):
        start = clock()
        blur(image, out)
        cpu.append(clock() - start)
        start = clock()
        device = cp.asarray(image)
        result = cp.empty_like(device)
        blur(device, result)
        result.get(out=out)
        gpu.append(clock() - start)
    return median(cpu), median(gpu)
""",
    "choose_tolerance, the narrowest bound": """
import math
def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return result == reference
    return abs(result - reference) <= 2**-24 * (math.ceil(n / threads) + math.log2(threads)) * magnitude
""",
    "choose_tolerance, the widest bound": """
import numpy as np
def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude < 2**24 + 1:
        return result == reference
    chain = -(-n // threads) + np.ceil(np.log2(threads))
    return abs(result - reference) <= 8 * np.finfo(np.float32).eps * chain * magnitude
""",
    "grid_arithmetic, with floats": """
import math
def blocks_per_grid(shape, threads_per_block):
    blocks = tuple(max(math.ceil(n / t), 1) for n, t in zip(shape[::-1], threads_per_block))
    good = math.prod(threads_per_block) <= 1024 and all(t <= 64 for t in threads_per_block[2:])
    if not good or any(b > most for b, most in zip(blocks, (2**31 - 1, 65535, 65535))):
        raise ValueError
    return blocks
""",
    "crossing_point, from the largest size down": """
def crossing_point(sizes, cpu_s, gpu_s):
    faster_at = None
    for size, cpu, gpu in sorted(zip(sizes, cpu_s, gpu_s), reverse=True):
        if gpu < cpu and (faster_at is None or not passed):
            faster_at, passed = size, False
        elif faster_at is None:
            return None
        else:
            passed = True
            if gpu > cpu:
                return size, faster_at
    return None
""",
}


@pytest.mark.parametrize("title", OTHER_RIGHT_ANSWERS)
def test_right_answers_of_other_kinds_pass(title):
    assert not findings(title.partition(",")[0], OTHER_RIGHT_ANSWERS[title])


TOLERANCES = {
    "the larger part": "eps / 2 * max(ceil(n / threads), ceil(log2(threads)))",
    "rounded down": "eps / 2 * (n // threads + int(log2(threads)))",
    "additions times levels": "eps * ceil(n / threads) * max(1, log2(threads))",
    "no levels": "4 * eps * (n // threads + 2)",
    "even differences": "(4 * eps * (ceil(n / threads) + log2(threads)), (result - reference) % 2 == 0)",
}


@pytest.mark.parametrize("title", TOLERANCES)
def test_bounds_of_another_form_are_refused(title):
    """Each has a share or a number of threads where it is too narrow or too wide."""
    source = f"""
from math import ceil, log2
def close_enough(result, reference, n, threads, magnitude, integers):
    eps = 2.0**-23
    bound = {TOLERANCES[title]}
    bound, whole = bound if isinstance(bound, tuple) else (bound, result == reference)
    return whole if integers and magnitude <= 2**24 else abs(result - reference) <= bound * magnitude
"""
    assert [finding.kind for finding in findings("choose_tolerance", source)] == ["wrong"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_verdict_repeats(name):
    exercise = get(name)
    assert findings(name, exercise.stub) == findings(name, exercise.stub)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if get(name).task.praise])
def test_praise_is_a_sentence_that_repeats(name):
    exercise = get(name)
    said = [exercise.task.praise(function(exercise.solution)) for _ in range(2)]
    assert said[0] == said[1]
    assert said[0].endswith((".", ".)"))


# What a stub's findings must say, and a piece of the line that they must name.
TOLD = {
    "cpu_or_gpu": [("data crossed over 1 time", "cp.asnumpy(mass)")],
    "count_transfers": [
        ("copied to the GPU 5 times", "centred"),
        ("copied back to the host 5 times", "mean"),
    ],
    "windows": [
        ("copied to the GPU 3 times", "signal[start"),
        ("copied back to the host 3 times", "float(cp.mean"),
    ],
    "within_the_limit": [("raised OutOfMemoryError: Out of memory allocating 4,004 bytes", "cp.asarray(x)")],
    "one_launch": [("there were 8 launches", "out[row]")],
    "copy_and_work": [
        ("stopped while the GPU was still busy: a copy", "copied = clock()"),
        ("still going on: the kernel 'dot float32' had", "done = clock()"),
        ("started while the GPU was still busy: a copy", "copied = clock()"),
        ("compiled it while the clock ran", "cp.dot"),
    ],
    "lying_benchmark": [
        ("clock stopped after the launch, while the work was still going on", "stop = gpu.clock()"),
        ("clock started while the GPU was still busy: the kernel 'prepare'", "start = gpu.clock()"),
        ("compiled it while the clock ran", "operation.run()"),
        ("Run 2 found the data as run 1 had left them", "operation.run()"),
    ],
    "fair_comparison": [
        ("went from float32 into float64", "blur(image, out)"),
        ("written for the first time", "blur(image, out)"),
        ("starts the threads of the library", "blur(image, out)"),
        ("clock stopped after the launch", "gpu_s = clock() - start"),
    ],
}


@pytest.mark.parametrize("name", TOLD)
def test_a_finding_names_the_reader_s_line(name):
    stub = get(name).stub
    found = findings(name, stub)
    for words, code in TOLD[name]:
        (finding,) = [each for each in found if words in each.message]
        assert code in stub.splitlines()[finding.line - 1]


def test_all_lines_that_copy_or_launch_are_named():
    there, back = findings("count_transfers", get("count_transfers").stub)
    assert (there.line, there.lines) == (4, (3, 4, 6, 7, 9))
    assert back.lines == there.lines
    (launches,) = findings("one_launch", get("one_launch").stub)
    assert launches.lines == (5,)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("count_transfers_mean_on_the_host", "float(image.mean())"),
        ("within_the_limit_squares_in_numpy", "cp.asarray(1 + part * part)"),
        ("within_the_limit_logarithms_in_numpy", "np.log(1 + chunk.get())"),
        ("within_the_limit_copies_for_show", "np.log(1 + x * x)"),
        ("fill_in_dot_for_show", "(a * b).sum()"),
        ("windows_means_on_the_host", ".mean()"),
        ("windows_overwrites_what_came", "np.mean("),
    ],
)
def test_the_line_that_works_on_the_host_is_named(path, code):
    name = next(name for name in FUNCTIONS if path.startswith(name))
    source = (WRONG / f"{path}.py").read_text(encoding="utf-8")
    (found,) = findings(name, source)
    assert "the host worked out a part of the result itself" in found.message
    assert code in source.splitlines()[found.line - 1]


@pytest.mark.parametrize(
    ("path", "words", "code"),
    [
        ("rows_apart_remembers_results", "That is the result of the call before.", ""),
        ("rows_apart_one_array_for_all", "the function changed the result of the first one", ""),
        ("rows_apart_gaps_never_set", "reads memory of cp.empty that was never set", "cp.convolve"),
        ("rows_apart_ends_too_early", "The result has memory of cp.empty that was never set", ""),
        ("rows_apart_in_32_bits", "convolve works in int32", "cp.convolve"),
    ],
)
def test_a_convolution_s_message_names_the_cause(path, words, code):
    source = (WRONG / f"{path}.py").read_text(encoding="utf-8")
    (found,) = findings("rows_apart", source)
    assert words in found.message
    assert found.line is None if not code else code in source.splitlines()[found.line - 1]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("keeps_the_block", "with other numbers in the same array, element 0 of the result must be"),
        ("remembers_the_means", "These are the means of the call before."),
        (
            "remembers_by_contents",
            "a call before kept what was used again, though the numbers may have changed.",
        ),
    ],
)
def test_what_a_call_kept_for_the_next_is_told(path, words):
    (found,) = findings("windows", (WRONG / f"windows_{path}.py").read_text(encoding="utf-8"))
    assert words in found.message


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_method_of_the_hints_splits_what_the_statement_asks_for(scale):
    split_kernel = function(get("split_kernel").solution)
    rng = np.random.default_rng(0)
    for shape in rng.integers(1, 20, (100, 2)):
        exact = np.outer(*(rng.uniform(-1, 1, n) for n in shape))
        weights = scale * (exact + 0.99e-6 * abs(exact).max() * rng.choice([-1, 1], shape))
        off = abs(np.outer(*split_kernel(weights)) - weights).max()
        assert off <= 1e-5 * abs(weights).max()


def test_images_of_one_shape_have_different_results():
    for *shapes, largest in ROWS_APART:
        first, second = (_expected(*_inputs(*shapes, largest, seed)) for seed in (0, 1))
        assert not (first == second).all()


def test_a_clock_of_the_reader_s_own_is_not_taken_for_the_machine_s():
    own_clock = """
import time
def measure(gpu, operation):
    start = time.perf_counter()
    operation.run()
    return time.perf_counter() - start
"""
    (found,) = findings("lying_benchmark", own_clock)
    assert found.message.endswith(" gpu.clock() was never read before and after a run.")


# What is timed, and what the verdict must say of it.
TIMED = {
    "the function never called clock().": (
        "time.perf_counter()",
        "cp.dot(x, y)",
        "time.perf_counter() - copied",
    ),
    "It is 1000 times as large: these are milliseconds, and seconds are wanted.": (
        *("clock()", "begin.record(); cp.dot(x, y); end.record(); end.synchronize()"),
        "cp.cuda.get_elapsed_time(begin, end)",
    ),
    "2 copies to the GPU ran while this clock ran (line 11).": (
        *("clock()", "cp.dot(cp.asarray(a), cp.asarray(b))", "clock() - copied"),
    ),
}


@pytest.mark.parametrize("words", TIMED)
def test_a_figure_of_another_kind_is_explained(words):
    clock, product, figure = TIMED[words]
    source = f"""
import time
def copy_and_work(cp, clock, a, b):
    wait = cp.cuda.Device().synchronize
    cp.dot(cp.asarray(a), cp.asarray(b)), wait()
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    start = {clock}
    x, y = cp.asarray(a), cp.asarray(b)
    wait()
    copied = {clock}
    {product}
    wait()
    return copied - start, {figure}
"""
    assert any(words.lower() in finding.message.lower() for finding in findings("copy_and_work", source))


@pytest.mark.parametrize(
    ("path", "words", "code"),
    [
        ("fair_comparison_subtracts_the_later_reading", "Only its sign is wrong: subtract the earlier", ""),
        ("fair_comparison_three_together", "That is the time of 3 blurs together, and one is wanted.", ""),
        ("fair_comparison_remembers_figures", "In a second call, on a machine with a slow link", ""),
        ("fair_comparison_remembers_figures", "the function did not read the clock: keep no figures", ""),
        (
            "fair_comparison_blurs_the_result_of_the_cpu",
            "GPU was not one of the image",
            "blur(cp.asarray(out)",
        ),
        (
            "fair_comparison_fetches_the_source",
            "than those that the last blur on the GPU made.",
            "blur(d, e)",
        ),
        ("copy_and_work_remembers_figures", "the function did not read the clock: keep no figures", ""),
        ("copy_and_work_one_vector_twice", "read one array alone: the product is to be", "cp.dot(x, x)"),
        ("copy_and_work_product_on_the_host", "No product ran on the GPU while this clock ran", ""),
        ("copy_and_work_adds_nothing_up", "the kernel 'multiply float32' was timed.", "x * y"),
    ],
)
def test_the_cause_of_a_wrong_time_is_named(path, words, code):
    source = (WRONG / f"{path}.py").read_text(encoding="utf-8")
    found = findings("_".join(path.split("_")[: 3 if path.startswith("copy") else 2]), source)[0]
    assert words in found.message
    assert found.line is None if not code else code in source.splitlines()[found.line - 1]


def test_figures_without_a_blur_are_refused():
    right = function(get("fair_comparison").solution)
    figures = []

    def measured(*tools):
        figures.append(right(*tools))
        return figures[-1]

    assert not list(get("fair_comparison").task.judge(measured))
    source = f"figures = iter({figures})\ndef compare(np, cp, clock, blur, image):\n    return next(figures)"
    assert findings("fair_comparison", source)[0].message.endswith("nothing was blurred on the CPU.")


def test_the_host_s_arrays_go_by_the_name_that_readers_know():
    source = "def compare(np, cp, clock, blur, image):\n    {}\n"
    for line in (
        "blur(cp.asarray(image), np.ones_like(image))",
        "cp.asarray(image) + image",
        "cp.sqrt(image)",
    ):
        (found,) = findings("fair_comparison", source.format(line))
        assert "Unsupported type <class 'numpy.ndarray'>. An array on the GPU met a NumPy" in found.message


def test_the_line_that_keeps_many_small_objects_is_named():
    source = """
from math import sqrt
def pi_in_pieces(draw, n, piece):
    inside = set()
    for start in range(0, n, piece):
        x, y = draw(min(piece, n - start))
        inside.update(((x * x + y * y < 1).nonzero()[0] + start).tolist())
    p = len(inside) / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
"""
    (found,) = findings("pi_in_pieces", source)
    assert (found.kind, found.line) == ("memory", 7)


# A right sum is refused where each thread adds up one value alone, and the levels of the tree are left out.
NO_LEVELS = """
def close_enough(result, reference, n, threads, magnitude, integers):
    share = -(-n // threads)
    whole = integers and magnitude <= 2**24
    return result == reference if whole else abs(result - reference) <= 4 * 2**-23 * share * magnitude
"""
WHOLE_RECORDING = """
def window_means(cp, signal, starts, length):
    x = cp.asarray(signal)
    return cp.asnumpy(cp.stack([x[start : start + length].mean() for start in starts]))
"""
ONCE_EACH = (WRONG / "warm_start_once_each.py").read_text(encoding="utf-8")
HALF = """
def dot(cp, a, b):
    return float(cp.dot(cp.asarray(a, dtype=cp.float16), cp.asarray(b, dtype=cp.float16)))
"""
NO_PAIR = get("split_kernel").solution.replace("else None", "else (None, None)")
ASKS_FOR_ZERO = (WRONG / "fill_in_dot_asks_for_zero.py").read_text(encoding="utf-8")
REMEMBERS_FACTORS = (WRONG / "one_launch_remembers_factors.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("one_launch", REMEMBERS_FACTORS, "The first one of this shape came out right: keep"),
        ("split_kernel", NO_PAIR, "the answer must be two vectors or None; got (None, None)."),
        ("fill_in_dot", HALF, "got inf. It is too large for float16, which ends at 65504."),
        ("fill_in_dot", ASKS_FOR_ZERO, "a number came back 2 times (lines 9 and 11); once will do."),
        ("choose_tolerance", NO_LEVELS, "so 1 value per thread;"),
        ("windows", WHOLE_RECORDING, "at 300, 350, 400 of 1000, 4000 bytes were copied to the GPU;"),
        ("warm_start", ONCE_EACH, "maximum float32. No request at the start needed it."),
    ],
)
def test_a_message_reads_as_a_sentence(name, source, words):
    (found,) = findings(name, source)
    assert words in found.message


def test_lines_of_too_many_launches_are_named():
    source = """
def convolve_rows(cp, image, weights):
    rows, width = image.shape[0] + weights.shape[0] - 1, image.shape[1] + weights.shape[1] - 1
    out = cp.zeros((rows, width), image.dtype)
    for row in range(len(image)):
        for k in range(len(weights)):
            out[row + k] += cp.convolve(image[row], weights[k])
    return out
"""
    (found,) = findings("rows_apart", source)
    assert found.message.endswith(" convolve was called 4 times (line 7); once is what is asked.")
    assert found.lines == (7,)


def test_one_axis_is_one_integer():
    (found,) = findings("grid_arithmetic", "def blocks_per_grid(shape, threads_per_block):\n    return [4]\n")
    assert found.message.endswith(" the result must be a tuple of 1 integer; got [4].")


def test_an_exception_in_the_reader_s_function_is_a_finding_of_each_judge():
    for name in FUNCTIONS:
        exercise = get(name)
        source = f"def f({', '.join(exercise.task.parameters)}):\n    raise OSError('no such thing')\n"
        found = findings(name, source)
        assert (found[0].kind, found[0].line) == ("exception", 2)
        assert "OSError: no such thing" in found[0].message


@pytest.mark.parametrize("result", ["'text'", "(1, 2, 3)", "float('nan')", "object()", "[[]]"])
def test_nonsense_is_a_finding_of_each_judge(result):
    for name in FUNCTIONS:
        source = f"def f({', '.join(get(name).task.parameters)}):\n    return {result}\n"
        assert findings(name, source)


@pytest.mark.parametrize("case", [case for case in CASES if case[1]], ids=lambda case: case[0])
def test_crossings_are_those_of_the_guide_s_results(case):
    """The exercise's rule and `Results.crossover` are one."""
    _, sizes, cpu_s, gpu_s, expected = case
    columns = {"numpy": cpu_s, "one": gpu_s}
    # Results hold whole numbers, and two times may differ in their last digit: only the order matters here.
    places = {s: place for place, s in enumerate(sorted({*cpu_s, *gpu_s}), 1)}
    cells = tuple(
        cell(name, size, places[s])
        for name, column in columns.items()
        for size, s in sorted(zip(sizes, column, strict=True))
    )
    crossing = make(sizes=tuple(sorted(sizes)), measurements=cells).crossover("numpy", "one")
    assert (crossing and (crossing.slower_at, crossing.faster_at)) == expected


ON_GPU = [name for name in FUNCTIONS if get(name).task.on_gpu]


@pytest.fixture
def pretend(monkeypatch):
    """Let the judges for the GPU take the stand-in for the real CuPy."""
    for name in ON_GPU:
        monkeypatch.setattr(f"gpuguide.exercises.pool.{name}.exercise.cupy", FakeCupy)


def test_the_lane_gpu_and_its_judge_go_together():
    assert [name for name in FUNCTIONS if "gpu" in get(name).lanes] == ON_GPU
    assert set(ON_GPU) == {
        *("cpu_or_gpu", "count_transfers", "windows", "within_the_limit", "rows_apart", "one_launch"),
        *("fill_in_dot", "fill_in_either"),
    }


@pytest.mark.parametrize("name", ON_GPU)
def test_the_judge_for_the_gpu_accepts_right_answers(name, pretend):
    others = [source for title, source in OTHER_RIGHT_ANSWERS.items() if title.startswith(f"{name},")]
    for source in (get(name).solution, *others):
        assert not list(get(name).task.on_gpu(function(source)))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("cpu_or_gpu_numpy_places", "exception"),
        ("cpu_or_gpu_places_in_64_bits", "wrong"),
        ("cpu_or_gpu_fetches_the_answer", "wrong"),
        ("count_transfers_left_there", "wrong"),
        ("count_transfers_mixes", "exception"),
        ("one_launch_in_place", "input_changed"),
        ("one_launch_wrong_axis", "exception"),
    ],
)
def test_the_judge_for_the_gpu_refuses_wrong_results(path, kind, pretend):
    (name,) = [name for name in ON_GPU if path.startswith(name)]
    source = (WRONG / f"{path}.py").read_text(encoding="utf-8")
    found = list(get(name).task.on_gpu(function(source)))
    assert [finding.kind for finding in found] == [kind]


@pytest.mark.parametrize("name", ON_GPU)
def test_the_judge_for_the_gpu_compares_values(name, pretend):
    """A solution whose result is a little off."""
    source = get(name).solution
    last = source.rindex("return ")
    off = source[:last] + source[last:].rstrip() + " + 1\n"
    assert [finding.kind for finding in get(name).task.on_gpu(function(off))] == ["wrong"]
