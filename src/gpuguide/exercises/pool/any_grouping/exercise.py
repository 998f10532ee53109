"""The four parts of a reduction, which must give one answer in whatever order they are applied."""

from copy import deepcopy
from random import Random

from gpuguide.exercises.judging import is_number, near, require, shown
from gpuguide.exercises.model import Case, HostExercise, Mistake

# The limit and the readings.
LISTS = (
    (0, [6]),
    (0, [2, 4]),
    (0, [2, 4, 9]),
    (0, [4, 4, 1]),
    (5, [1, 8, 5, 10, 3]),
    (5, [5, 5]),
    (3, []),
    (-4, [-3, -2, -9]),
    (-4, [3, -3]),
    (0.5, [1, 0, 1, 1]),
    (0.5, [0]),
    (-2.5, [-2, 4]),
    (-1_000_000, [-50_000, 4]),
    # Too large for the digits of float32, and for 32 bits.
    (16_777_219, [16_777_220, 1]),
    (0, [2_000_000_000, 1_000_000_000]),
)
LENGTHS = (7, 40, 23)
PARTS = ("map_one", "reduce_two", "identity", "finish")
# In words; the first two are always the same, the others are drawn.
ORDERS = ("from the first to the last", "in pairs", *3 * ["in another grouping and with the identity"])


def cases():
    random = Random(0)
    drawn = [(random.randint(-5, 5), [random.randint(-9, 30) for _ in range(n)]) for n in LENGTHS]
    for limit, readings in (*LISTS, *drawn):
        yield Case(f"For the readings {readings} and limit = {limit}", (limit,), extra=readings)


def judge(case, parts):
    (limit,), readings = case.arguments, case.extra
    is_four = isinstance(parts, tuple | list) and len(parts) == len(PARTS)
    require(is_four, f"Expected four things, ({', '.join(PARTS)}); got {shown(parts)}.")
    for name, part in zip(PARTS, parts, strict=True):
        require(name == "identity" or callable(part), f"{name} must be a function; got {shown(part)}.")
    above = [x for x in readings if x > limit]
    expected = sum(above) / len(above) if above else limit
    before = set()
    for order, words in enumerate(ORDERS):
        answer, how = reduced(parts, readings, order)
        again = " It was right before: does a part remember something?" if how in before else ""
        before.add(how)
        how = how if len(readings) < 4 else f"Put together {words}, the mean"
        right = is_number(answer) and near(answer, expected, 1e-9)
        require(right, f"{how} must be {expected}; got {shown(answer)}.{again}")


def reduced(parts, readings, order):
    """Return the answer, and the calls that led to it; as on a GPU, functions get copies."""
    map_one, reduce_two, identity, finish = parts
    random = Random(order)
    values = [(map_one(x), f"map_one({x})") for x in readings]
    if (order > 1 and len(values) > 2) or not values:
        map_one(50)  # another list is being reduced, too
        values.insert(random.randint(0, len(values)), (identity, "identity"))
    while len(values) > 1:
        at = random.randrange(len(values) - 1) if order > 1 else 0
        (a, left), (b, right) = values[at : at + 2][:: -1 if order == 4 else 1]
        del values[at : at + 2]
        value = reduce_two(deepcopy(a), deepcopy(b)), f"reduce_two({left}, {right})"
        values.insert(len(values) if order == 1 else at, value)
    return finish(deepcopy(values[0][0])), f"finish({values[0][1]})"


EXERCISE = HostExercise(
    name="any_grouping",
    title="A mean in any grouping",
    level="intermediate",
    minutes=15,
    teaches="What a reduction hands on must say enough for its parts to be put together in any order.",
    pages=("kernel_families",),
    tags=("reduction", "CuPy"),
    cases=cases,
    judge=judge,
    in_page=True,
)

MISTAKES = (
    Mistake("(x, 1) if x > limit else (0, 0)", "(x, 1)", "wrong"),
    Mistake("x > limit", "x >= limit", "wrong"),
    Mistake("a[0] + b[0], a[1] + b[1]", "(a[0] + b[0]) / 2, a[1] + b[1]", "wrong"),
    Mistake("a[0] + b[0], a[1] + b[1]", "a[0] + b[0], a[1] + 1", "wrong"),
    Mistake("a[0] / a[1] if a[1] else limit", "a[0] / a[1]", "exception"),
    Mistake("a[0] / a[1] if a[1] else limit", "a[0] / a[1] if a[1] else 0", "wrong"),
    Mistake("(0, 0), finish", "(0, 1), finish", "wrong"),
    Mistake("a[0] / a[1] if", "a[0] // a[1] if", "wrong"),
)
