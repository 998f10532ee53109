"""From source text to a kernel: what is found, what is refused, and what the rewriting keeps."""

import ast
import dis
import math
import re
import textwrap

import numpy as np
import pytest
from launching import launch, poisoned, prepare, run

from gpuguide.errors import ArgumentError
from gpuguide.exercises.simulator.names import ATTRIBUTES, USUAL_IMPORTS
from gpuguide.exercises.simulator.rewriting import WAITING, rewrite

REFUSED = [
    ("", "", "The source holds no function. Define the kernel with def, at the top level."),
    ("x = 1", "", "The source holds no function."),
    ("def kernel(x)\n    pass", "", "Line 1 is not valid Python: expected ':'."),
    ("def kernel(x):\n    return = 1", "", "Line 2 is not valid Python: invalid syntax."),
    ("def kernel(x):\n    break", "", "Line 2 is not valid Python: 'break' outside loop."),
    ("def kernel(x): pass", "kernal", "Unknown function 'kernal'. Did you mean 'kernel'?"),
    ("def kernel(*x): pass", "", "Line 1: a kernel takes a fixed number of plain parameters."),
    ("def kernel(x):\n    try:\n        x[0] = 1\n    except IndexError:\n        pass", "", "Line 2 catches "
                                                                                             "exceptions, "
                                                                                             "which no "
                                                                                             "kernel can "
                                                                                             "do."),
    ("def kernel(x):\n    with x: pass", "", "Line 2 uses 'with', which no kernel can do."),
    ("def kernel(x):\n    yield x", "", "Line 2 yields, which no kernel can do."),
    ("n = 1\ndef kernel(x):\n    global n\n    n = 2", "", "Line 3 changes a global variable, which no "
                                                           "kernel can do."),
    (
        "from numba import float16\ndef kernel(x): pass",
        "",
        "The source imports float16 from numba, where it is not. Import types, and write types.float16.",
    ),
    ("from numba.cuda import laneid\ndef kernel(x): pass", "", "The source imports laneid on its own."),
    ("def kernel(x):\n    import math", "", "Line 2 imports a module, which no kernel can do."),
    ("def kernel(x):\n    class A: pass", "", "Line 2 defines a class, which no kernel can do."),
    ("def kernel(x):\n    waits = (cuda.syncthreads,)\n    waits[0]()", "",
     "Line 2 uses cuda.syncthreads without calling it. Call it in place."),
    ("def kernel(x):\n    [cuda.syncthreads() for _ in x]", "",
     "Line 2 waits for other threads inside a list. Write a loop."),
]  # fmt: skip


@pytest.mark.parametrize(("source", "name", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_kernel_is_refused_in_one_sentence(source: str, name: str, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        prepare(source, name)
    assert str(caught.value).startswith(message)


def test_a_function_of_cuda_may_have_another_name() -> None:
    """As for Numba; what it stands for decides where a thread waits."""
    assert prepare("def kernel(x):\n    wait = cuda.syncthreads\n    wait()").waits
    twice = "def kernel(x):\n    add = cuda.atomic.add\n    add = cuda.atomic.sub\n    add(x, 0, 1)"
    assert not prepare(twice).waits


def test_the_kernel_is_the_last_function_or_the_one_named() -> None:
    source = "def helper(a):\n    return a\n\ndef kernel(x, out):\n    out[0] = helper(x[0])\n"
    assert (prepare(source).name, prepare(source).parameters) == ("kernel", ("x", "out"))
    assert (prepare(source, "helper").name, prepare(source, "helper").parameters) == ("helper", ("a",))


def test_decorators_launches_and_prints_do_not_run() -> None:
    source = """
    import cupy
    from numba import cuda

    @cuda.jit(fastmath=True, max_registers=32)
    def kernel(x: cupy.ndarray, n: "int" = 3) -> None:
        x[0] = n

    x = cupy.zeros(3)
    kernel[1, 1](x)
    print(x)
    raise SystemExit
    """
    kernel = prepare(source)
    x = np.zeros(1)
    assert run(kernel, 1, 1, {"x": x, "n": 7}).findings == ()
    assert x[0] == 7


IMPORTS = [
    "from numba import cuda, float32\nimport math",
    "from numba import cuda as cuda\nfrom numba import types, float32\nimport math",
    "import numba.cuda\nimport math\nfrom numba import cuda\nfrom numba.core.types import float32",
    "from gpuguide.machine.backends import cuda, jit\nfrom numpy import float32\nimport math",
    "from numba import *\nfrom numba import cuda, float32\nfrom math import sqrt\nimport math",
    "",
]


@pytest.mark.parametrize("imports", IMPORTS, ids=range(len(IMPORTS)))
def test_imports_become_stand_ins(imports: str) -> None:
    source = f"{imports}\ndef kernel(out):\n    out[cuda.grid(1)] = math.sqrt(float32(4))\n"
    out = poisoned(1)
    assert launch(source, 1, 1, out=out).findings == ()
    assert out[0] == 2


def test_functions_can_be_imported_on_their_own() -> None:
    source = "from numba.cuda import grid, syncthreads as wait, shared, threadIdx\nfrom math import sqrt\n"
    source += (
        "from numba import int32\ndef kernel(out):\n    s = shared.array(4, int32)\n    s[threadIdx.x] = 4\n"
    )
    source += "    wait()\n    out[grid(1)] = sqrt(s[3 - threadIdx.x])\n"
    out = poisoned(4)
    assert launch(source, 1, 4, out=out).findings == ()
    assert out.tolist() == [2] * 4


def test_a_source_with_imports_has_no_others() -> None:
    (finding,) = launch(
        "import math\ndef kernel(out):\n    out[cuda.grid(1)] = 1\n", 1, 1, out=poisoned(1)
    ).findings
    assert str(finding) == (
        "Thread 0 of block 0 fails in line 3: name 'cuda' is not defined; import it at the top of the file: "
        "from numba import cuda."
    )


def test_a_module_without_a_stand_in_complains_when_it_is_used() -> None:
    source = "import cupy as cp\nfrom numba import cuda\ndef kernel(out):\n    out[0] = {}\n"
    assert launch(source.format("1"), 1, 1, out=poisoned(1)).findings == ()
    (finding,) = launch(source.format("cp.sqrt(2)"), 1, 1, out=poisoned(1)).findings
    assert (finding.kind, finding.line) == ("unsupported", 4)
    assert str(finding).startswith("Line 4 uses cupy.sqrt, which this simulator does not have")


def test_constants_come_from_the_source_and_from_outside() -> None:
    source = "SIZE = 4\nHALF = SIZE // 2\ndef kernel(out):\n    s = cuda.local.array(HALF, float32)\n"
    source += "    s[:] = WEIGHTS[1] + PAIR[1]\n    out[0] = s[HALF - 1] + SCALE\n"
    constants = {"WEIGHTS": np.array([1.0, 2.0]), "PAIR": (1, 10), "SCALE": np.float32(0.5)}
    out = poisoned(1)
    assert run(prepare(source, constants=constants), 1, 1, {"out": out}).findings == ()
    assert out[0] == 12.5


def test_modules_and_types_from_outside_become_stand_ins() -> None:
    """A function of a session brings the objects along that its names stand for."""
    import math

    from numba import float32

    source = "import math as m\ndef kernel(out):\n    out[0] = root.sqrt(real(2)) + number(1)\n"
    constants = {"root": math, "real": float32, "number": np.int32}
    out = poisoned(1)
    assert run(prepare(source, constants=constants), 1, 1, {"out": out}).findings == ()
    assert out[0] == np.sqrt(np.float32(2)) + 1


DEVICE_FUNCTIONS = """
def double(a):
    return 2 * a

def swap(s, t, n):
    v = s[t]
    cuda.syncthreads()
    s[n - 1 - t] = v
    cuda.syncthreads()
    return s[t]

def twice(s, t, n):
    return swap(s, t, n) + swap(s, t, n)

def kernel(x, out):
    def inner(a):
        return double(a) + 1
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    out[t] = inner(twice(s, t, 8))
"""


def test_device_functions_may_wait() -> None:
    out = poisoned(8)
    assert launch(DEVICE_FUNCTIONS, 1, 8, x=np.arange(8, dtype="f4"), out=out).findings == ()
    assert out.tolist() == [15] * 8


def test_only_functions_that_wait_become_generators() -> None:
    tree = ast.parse(DEVICE_FUNCTIONS)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    rewritten = rewrite(functions, USUAL_IMPORTS, ATTRIBUTES)
    assert rewritten.waiting == {"swap", "twice", "kernel"}
    inside = {
        function.name: {type(node).__name__ for node in ast.walk(function)} & {"Yield", "YieldFrom"}
        for function in rewritten.functions
    }
    assert inside == {
        "double": set(),
        "swap": {"Yield"},
        "twice": {"YieldFrom"},
        "kernel": {"Yield", "YieldFrom"},
    }
    assert not prepare("def kernel(x): x[0] = 1").waits


EVERYTHING = '''
@decorator(
    option=1,
)
def kernel(x, out, n: int = 3):
    """A docstring."""
    i = cuda.grid(1)
    total = 0.0
    for k in range(
        n
    ):
        if x[k] > 1.5 and not (
            x[k] == 2
        ):
            total += x[k]
        elif k == 2: continue
        else:
            total /= 2
    else:
        total += 1
    while i < 100:
        i += (x[0] > 0) + 1
        if i > 50:
            break
    value: float = total / (
        n
    )
    cuda.syncthreads()
    out[i % 4] = (
        value if i > 3
        else x[0]
    )
'''


def test_every_line_keeps_its_number() -> None:
    """The instructions of the rewritten kernel lie on lines of the reader's, those of each line included."""
    kernel = prepare(EVERYTHING)
    tree = ast.parse(textwrap.dedent(EVERYTHING))
    statements = {node.lineno for node in ast.walk(tree.body[0]) if isinstance(node, ast.stmt | ast.expr)}
    (code,) = (constant for constant in kernel.code.co_consts if hasattr(constant, "co_code"))
    lines = {line for _, line in dis.findlinestarts(code) if line is not None}
    assert lines <= statements
    assert {7, 8, 9, 12, 13, 15, 16, 18, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30} <= lines


def test_indices_meant_from_the_end_are_known_by_their_places() -> None:
    sites = prepare("def kernel(x):\n    x[-1] = x[ 0 ] + x[0,\n        -2]\n").sites
    assert [(sites.line(site), axis) for site, axis in sites.from_the_end] in (
        [(2, 0), (2, 1)],
        [(2, 1), (2, 0)],
    )


def test_the_rewritten_kernel_computes_the_same() -> None:
    """Every kind of statement at once, against the plain function."""
    plain: dict = {}
    source = textwrap.dedent(EVERYTHING)
    names = {"decorator": lambda **_: lambda function: function, "cuda": _OneThread()}
    exec(source, names, plain)
    x = np.array([1, 2, 3, 0], np.float64)
    expected, out = np.full(4, np.nan), np.full(4, np.nan)
    plain["kernel"](x, expected, 3)
    assert launch(source, 1, 1, x=x, out=out, n=3).findings == ()
    np.testing.assert_array_equal(out, expected)


class _OneThread:
    @staticmethod
    def grid(_: int) -> int:
        return 0

    @staticmethod
    def syncthreads() -> None:
        pass


SHAPES = [
    ("16", True),
    ("2 * 16", True),
    ("(16, 17)", True),
    ("TILE", True),
    ("(TILE, HERE)", True),
    ("0", True),
    ("cuda.blockDim.x", False),
    ("x.size", False),
    ("n", False),
    ("(16, n)", False),
    ("TILE + 1", False),
    ("changed", False),
    ("again", True),
    ("SIDES", True),
    ("SIDES[0]", True),
    ("(SIDES[-1], 3)", True),
    ("SIDES[:1]", True),
    ("high", True),
    ("narrow", True),
    ("whole", True),
    ("sides", True),
    ("x.ndim", True),
    ("8 if TILE > 4 else 4", True),
    ("8 if n > 4 else 4", False),
    ("SIDES[n]", False),
    ("x.shape[0]", False),
    ("computed", False),
    ("counted", False),
    ("itself", False),
]


@pytest.mark.parametrize(("shape", "constant"), SHAPES)
def test_shapes_are_constants(shape: str, constant: bool) -> None:
    """As numba-cuda has it: numbers, names of numbers and parts of tuples, but no arithmetic with names."""
    source = "TILE = 16\nSIDES = 16, 2\ndef kernel(x, n):\n    HERE = 4\n    changed = 1\n    changed = 2\n"
    source += "    again = TILE\n    high, wide = 8, n\n    narrow, _ = SIDES\n    whole: int = 8\n"
    source += "    sides = (HERE, 2)\n    computed = HERE + n\n    itself = itself\n"
    source += "    for counted in range(4): pass\n"
    source += f"    s = cuda.shared.array({shape}, float32)\n"
    assert [finding.kind for finding in prepare(source).findings] == ([] if constant else ["compile"])
    assert prepare(
        source.replace("array(", "array(shape=").replace(", float32", ", dtype=float32")
    ).findings == (prepare(source).findings)


def test_functions_on_one_line_do_not_get_in_each_other_s_way() -> None:
    """A longer function inside a shorter one, both of which start on the same line."""
    body = " + ".join(["x[0]"] * 60)
    source = f"def kernel(x, out): f = lambda s: {body} + s[0]; out[0] = f(cuda.shared.array(1, float32))\n"
    found = launch(source, 1, 1, x=np.ones(1), out=poisoned(1)).findings
    assert [(finding.kind, finding.line) for finding in found] == [("uninitialised", 1)]


def test_what_python_warns_of_is_left_to_python() -> None:
    """An odd escape in a comment-like string, a comparison by `is`: the kernel is read all the same."""
    assert prepare("def kernel(x):\n    '\\d'\n    x[0] = 1 is 1\n").parameters == ("x",)


REACHING = [
    "x.__class__",
    "(1).__class__.__bases__",
    "__tracer__",
    "__load__(x, 0, 0)",
    "x._machine",
    "cuda.atomic._target",
    "math.__dict__",
    "cuda.jit",
    "x.region",
    "'{0.shape}'.format(x)",
    "print.__self__",
]


@pytest.mark.parametrize("expression", REACHING)
def test_nothing_behind_the_simulator_can_be_reached(expression: str) -> None:
    """Not by an attribute, nor by a name of the rewritten code: a kernel has what Numba has, and no more."""
    source = f"def kernel(x, out):\n    out[0] = {expression}\n"
    if "__" in expression:
        with pytest.raises(ArgumentError, match="which no kernel can do"):
            prepare(source)
        return
    (finding,) = launch(source, 1, 1, x=np.ones(1), out=poisoned(1)).findings
    assert finding.kind in ("unsupported", "compile")


MISTYPED = [
    ("cuda.gird(1)", "cuda.gird, which no kernel has. Did you mean cuda.grid?"),
    ("cuda.syncthread()", "cuda.syncthread, which no kernel has. Did you mean cuda.syncthreads?"),
    ("math.sqroot(2)", "math.sqroot, which no kernel has. Did you mean math.sqrt?"),
    ("cuda.nothing_like_it", "cuda.nothing_like_it, which no kernel has."),
    ("out.sise", "out.sise, which no array has. Did you mean out.size?"),
]


@pytest.mark.parametrize(("expression", "said"), MISTYPED)
def test_a_mistyped_name_is_wrong_whatever_judges_it(expression: str, said: str) -> None:
    (finding, *_) = prepare(f"def kernel(out):\n    out[0] = {expression}\n").findings
    assert (finding.kind, finding.line, str(finding)) == ("compile", 2, f"Line 2 uses {said}")


CALLED = [
    ("cuda.laneid()", "cuda.laneid, which is a number: write it without ()."),
    ("cuda.threadIdx.x() + 1", "cuda.threadIdx.x, which is a number: write it without ()."),
    (
        "cuda.blockDim().y",
        "cuda.blockDim, which is no function: write cuda.blockDim.x for the number along x.",
    ),
    ("out.shape()[0]", "out.shape, which is a tuple: write out.shape[0] for its first number."),
    ("cuda.shared(4, float32)", "cuda.shared, which is no function: write cuda.shared.array."),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "said"), CALLED)
def test_what_is_no_function_is_not_called(expression: str, said: str) -> None:
    (finding,) = prepare(f"def kernel(out):\n    out[0] = {expression}\n").findings
    assert (finding.kind, finding.line, str(finding)) == ("compile", 2, f"Line 2 calls {said}")
    assert not prepare("import numpy as np\ndef kernel(out):\n    out[0] = np.size(out)\n").findings


@pytest.mark.parametrize("given", ["float", "int", "bool"])
def test_an_array_of_a_type_of_python_s_is_refused(given: str) -> None:
    """Numba cannot compile it."""
    source = "def kernel(x):\n    s = cuda.shared.array(4, float)\n"
    for asked in (source, source.replace("float)", "dtype=float)")):
        (finding,) = prepare(asked.replace("float", given)).findings
        assert str(finding).startswith(f"Line 2 makes an array of Python's {given}; Numba takes")


def test_a_kernel_returns_nothing_by_name() -> None:
    assert not prepare("def kernel(x):\n    return None\n").findings


REFUSED_TARGETS = ["cuda.x = 1", "x.shape = (2,)", "del x[0]", "for x[0] in range(3): pass"]


@pytest.mark.parametrize("statement", REFUSED_TARGETS)
def test_odd_targets_are_refused(statement: str) -> None:
    with pytest.raises(ArgumentError, match="which no kernel can do"):
        prepare(f"def kernel(x):\n    {statement}\n")


def test_elements_can_be_set_together() -> None:
    source = "def kernel(out):\n    out[0], v, (out[1], out[2]) = 1, 2, (3, 4)\n    out[3] = out[4] = v\n"
    out = poisoned(5)
    assert launch(source, 1, 1, out=out).findings == ()
    assert out.tolist() == [1, 3, 4, 2, 2]


def test_no_name_that_numba_has_for_kernels_is_called_mistyped() -> None:
    """Those that the simulator lacks can be judged by the compiler; a vector of four floats is one."""
    cuda = pytest.importorskip("numba.cuda")
    stubs = pytest.importorskip("numba.cuda.stubs")
    names = {name for name, each in vars(stubs).items() if isinstance(each, type) and hasattr(cuda, name)}
    names |= {name for name in dir(cuda) if re.search(r"[a-z0-9]x?[1-4]$", name) and name[0].islower()}
    names |= {"cg", "libdevice", "fp16", "ldca", "stcs", "grid", "gridsize"}
    names = {name for name in names if name[0].islower()} - {"dim3"}  # a type of the host
    assert len(names) > 80
    for name in sorted(names - set(vars(math)) - WAITING):
        found = prepare(f"def kernel(out):\n    out[0] = cuda.{name}\n").findings
        assert not [each for each in found if "which no kernel has" in str(each)], name
