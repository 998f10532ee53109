"""Runs a CUDA kernel thread by thread in plain Python, and says what is wrong with it.

It needs neither a GPU nor Numba nor NumPy. `load` executes the text of a file with stand-ins for Numba in
place and gives its functions; `launch` traces one launch; arrays are made of lists:

>>> from gpuguide import tracer
>>> answer = tracer.load('''
... from numba import cuda
... @cuda.jit
... def double(x, out):
...     i = cuda.grid(1)
...     out[i] = 2 * x[i]
... ''')
>>> x, out = tracer.array([1, 2, 3], "int32"), tracer.empty(3, "int32")
>>> trace = tracer.launch(answer.double, 1, 4, {"x": x, "out": out}, expected={"out": [2, 4, 6]})
>>> trace.passed, out.tolist()
(False, [2, 4, 6])
>>> finding = trace.findings[0]
>>> finding.kind, finding.block, finding.thread, finding.array, finding.element, finding.line
('out_of_range', (0,), (3,), 'x', (3,), 6)
>>> print(finding.text)
Thread 3 of block 0 reads x[3] in line 6, but x has 3 elements.

`load(source, filename)` returns an object whose attributes are the names of the file; `.functions` are those
that it defines, in order. A `SyntaxError`, or any error of the file itself, comes through.

`launch(function, blocks, threads, arguments, *, inputs, expected, tolerance, limits, shared_bytes, reverse)`
takes arguments as a list, or by names that are the caller's own: `inputs` (arrays that must stay as they
are; by default all that are not expected to change) and `expected` (what arrays hold afterwards, flat or
nested lists) use these names, findings those of the kernel. `limits` is a `Limits`; it is judged where all
else is right. `reverse` lets threads and blocks come in reverse order. Arrays hold the results afterwards.

`array(values, dtype, shape)` and `empty(shape, dtype)` make arrays; slices, `.T` and `.reshape` give views of
them; `.tolist()` and `.values()` read them back. Of what `empty` made, no element may be read before it is
written.

A `Trace` has `findings` (data: kind, text, line, lines, array, element, threads, thread, block, times,
question), `passed`, `counts` (a `Counts`), `printed`, `notes` and `arrays`; `drawing(finding)`,
`svg(finding)` and `quote(finding)` are the parts of which a verdict can be made. It prints as text, and as
HTML with a drawing in a notebook. `KINDS` lists the kinds of findings, the most important first, `QUESTIONS`
one question for each.
"""

from gpuguide.tracer.counts import Counts
from gpuguide.tracer.findings import KINDS, QUESTIONS, Finding, ThreadId
from gpuguide.tracer.judge import Limits
from gpuguide.tracer.memory import Array, array, empty
from gpuguide.tracer.report import Trace
from gpuguide.tracer.standins import load
from gpuguide.tracer.trace import launch

__all__ = [
    "KINDS",
    "QUESTIONS",
    "Array",
    "Counts",
    "Finding",
    "Limits",
    "ThreadId",
    "Trace",
    "array",
    "empty",
    "launch",
    "load",
]
