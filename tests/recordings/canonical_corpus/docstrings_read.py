"""Docstrings count:
this source reads one.

  Indented more.
"""


# ruff: noqa
# fmt: off
class Kernels:
    "A class's docstring."

    def add(x):
        r"""
        extern "C" __global__ void add(float* x) { x[0] += 1.0f; }  // \n
        """
        return x

    async def other():
        "one" """ docstring
	in two parts"""

def no_docstring():
    f"an f-string is none"

def none_either():
    pass
    "a text below pass"

kernel = RawKernel(Kernels.add.__doc__, "add")
