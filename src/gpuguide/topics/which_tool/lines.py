"""How many lines each tool takes: those that you write, counted in this topic's files."""

import ast
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
    node = next(node for node in ast.parse(text).body if _name(node) == name)
    if isinstance(node, ast.Assign):  # CUDA C++ in a string
        lines = ast.literal_eval(node.value).splitlines()
    else:
        lines = text.splitlines()[: node.end_lineno]
        if ast.get_docstring(node):
            del lines[node.body[0].lineno - 1 : node.body[0].end_lineno]
        del lines[: min(part.lineno for part in (node, *node.decorator_list)) - 1]
    code = (line.strip() for line in lines)
    return sum(bool(line) and not line.startswith(("#", "//")) for line in code)


def _name(node):
    return node.targets[0].id if isinstance(node, ast.Assign) else getattr(node, "name", None)
