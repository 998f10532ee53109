"""Standard scores of columns, for arrays of a library that has the standard and nothing else."""

from contextlib import contextmanager

import numpy as np

from gpuguide.errors import BackendError
from gpuguide.exercises.judging import difference, require, shown
from gpuguide.exercises.model import Case, HostExercise, Mistake

# Rows, columns and dtype.
TABLES = (
    (3, 1, "float64"),
    (4, 3, "float64"),
    (2, 3, "float32"),
    (5, 5, "float64"),
    (5, 5, "float32"),
    (100, 5, "float64"),
)
TOLERANCES = {"float32": 1e-5, "float64": 1e-9}
# In steps, and as near as readings may be that differ. In float64, the mean of squares less the square of the
# mean has no digit left.
FAR = {"float32": 90, "float64": 2**26 + 7}
SENSORS = (
    "",
    "",
    "This sensor always reads the same.",
    "The readings of this sensor are smaller than 1e-13, and they differ.",
    "The readings of this sensor are far from zero, and differ by little.",
)


def cases():
    try:
        import array_api_strict
    except ImportError:
        needs = "This exercise needs array-api-strict, which is not installed"
        raise BackendError(f'{needs}: pip install "array-api-strict>=2.4,<3".') from None
    # 0 / 0 is judged by what becomes of it.
    kind = type(array_api_strict.asarray(0.0))
    with np.errstate(invalid="ignore", divide="ignore"), out_of_reach_for_numpy(kind):
        for rows, columns, dtype in TABLES:
            random = np.random.default_rng(rows)
            table = random.integers(-35, 36, (rows, len(SENSORS))).astype(float)
            table[0], table[1] = 10, 30  # no sensor but the third always reads the same
            table[:, 2] = 12
            table[:, 3] *= 2.0**-50
            table[:, 4] = FAR[dtype] + np.where(np.arange(rows) % 2, 10, -10)
            table = table[:, :columns].astype(dtype)
            about = f"For {rows} readings of {columns} sensor{'s' * (columns > 1)} in {dtype}"
            yield Case(about, (array_api_strict.asarray(table.copy()),), extra=table)


@contextmanager
def out_of_reach_for_numpy(kind):
    """Let NumPy take no array of this kind, which stands for those of all libraries, of GPUs' too."""

    def refuse(*_, **__):
        raise TypeError("NumPy cannot take this array: those of other libraries may be on a GPU")

    kept = {name: vars(kind)[name] for name in ("__array__", "__buffer__") if name in vars(kind)}
    for name in kept:
        setattr(kind, name, refuse)
    try:
        yield
    finally:
        for name, method in kept.items():
            setattr(kind, name, method)


def judge(case, result):
    (readings,), table = case.arguments, case.extra
    message = "The function changed readings, which belongs to the caller."
    require(np.array_equal(np.from_dlpack(readings), table), message, kind="input_changed")
    message = f"The result must be an array of the readings' library; got {shown(result)}."
    require(isinstance(result, type(readings)), message)
    centred = table - table.mean(axis=0, dtype=float)
    spread = centred.std(axis=0, ddof=1)
    expected = (centred / np.where(spread > 0, spread, 1)).astype(table.dtype)
    scores, tolerance = np.from_dlpack(result), TOLERANCES[str(table.dtype)]
    wrong, about = difference(scores, expected, tolerance), ""
    if wrong and (scores.shape, scores.dtype) == (expected.shape, expected.dtype):
        far = ~(np.abs(scores - expected) <= tolerance)
        about = SENSORS[np.argwhere(far)[0][1]]
    require(not wrong, f"{wrong} {about}".strip())


EXERCISE = HostExercise(
    name="any_library",
    title="A library you do not know",
    level="intermediate",
    minutes=15,
    teaches="The array API standard has functions, not methods, and names of its own for a few arguments.",
    pages=("agnostic",),
    tags=("array API", "NumPy", "CuPy"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("xp.mean(readings, axis=0)", "readings.mean(axis=0)", "exception"),
    Mistake("correction=1", "ddof=1", "exception"),
    Mistake(", correction=1", "", "wrong"),
    Mistake("    spread = xp.where(spread > 0, spread, xp.ones_like(spread))\n", "", "wrong"),
    Mistake("spread > 0", "spread > 1e-6", "wrong"),
    Mistake("xp.ones_like(spread)", "xp.ones(spread.shape)", "wrong"),
    Mistake("centred = readings - ", "centred = readings\n    centred -= ", "input_changed"),
    Mistake("    xp =", "    import numpy as np\n    readings = np.asarray(readings)\n    xp =", "exception"),
)
