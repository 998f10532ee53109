"""How many lines each tool takes: those that you write, counted in this topic's files."""

import re
from pathlib import Path

# Where the code of each variant is, and of the study's functions that launch it.
PARTS = {
    "cupy": ("arrays:whole_arrays",),
    "fused": ("arrays:fused_parts", "arrays:fused"),
    "own_elementwise": ("arrays:own_parts", "arrays:own_elementwise"),
    "cupyx_jit": ("in_jit:jit_kernel",),
    "numba_kernel": (
        "kernels:largest_of_block",
        "kernels:sum_of_block",
        "kernels:numba_kernel",
    ),
    "raw": ("kernels:raw_source",),
    "cuda_compute": ("in_compute:softmax",),
    "triton_kernel": ("in_triton:triton_kernel",),
    "torch_compile": ("in_torch:torch_compile",),
}
ONE_LINE = ("torch", "jax")


def lines_written():
    """Count the lines of code of each tool, without comments, docstrings and empty ones."""
    counts = {
        name: sum(_lines(*part.split(":")) for part in parts) for name, parts in PARTS.items()
    }
    counts["numba_cuda_mlir"] = counts["numba_kernel"]  # the same kernel
    return counts | dict.fromkeys(ONE_LINE, 1)


def _lines(module, name):
    text = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    function = rf"(?m)(?:^@.*\n)*^def {name}\(.*\n(?:(?: .*)?\n)*"
    source = rf'(?s){name} = r"""(.*?)"""'  # CUDA C++
    code = re.search(function, text) or re.search(source, text)
    lines = (line.strip() for line in code[code.re.groups].splitlines()) if code else ()
    return sum(bool(line) and not line.startswith(("#", "//", '"""')) for line in lines)
