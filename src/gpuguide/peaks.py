"""Arithmetic that one multiprocessor can do per clock cycle, by compute capability."""

from __future__ import annotations

from gpuguide.errors import unknown

__all__ = ["UNITS", "flops_per_sm_per_cycle"]

# Plain units: "Throughput of Native Arithmetic Instructions" in NVIDIA's CUDA C++ Programming Guide, which
# counts results per cycle and multiprocessor; a fused multiply-add is two FLOPs, hence the factor 2 below.
_FMA_RESULTS: dict[tuple[int, int], dict[str, int]] = {
    (6, 0): {"fp16": 128, "fp32": 64, "fp64": 32},
    (6, 1): {"fp16": 2, "fp32": 128, "fp64": 4},
    (6, 2): {"fp16": 256, "fp32": 128, "fp64": 4},
    (7, 0): {"fp16": 128, "fp32": 64, "fp64": 32},
    (7, 2): {"fp16": 128, "fp32": 64, "fp64": 32},
    (7, 5): {"fp16": 128, "fp32": 64, "fp64": 2},
    (8, 0): {"fp16": 256, "fp32": 64, "fp64": 32},
    (8, 6): {"fp16": 128, "fp32": 128, "fp64": 2},
    (8, 7): {"fp16": 128, "fp32": 128, "fp64": 2},
    (8, 9): {"fp16": 128, "fp32": 128, "fp64": 2},
    (9, 0): {"fp16": 256, "fp32": 128, "fp64": 64},
    (10, 0): {"fp16": 256, "fp32": 128, "fp64": 64},
    (12, 0): {"fp16": 128, "fp32": 128, "fp64": 2},
}

# Tensor cores, dense, fused multiply-adds per cycle and multiprocessor, from the white papers of the
# architectures: V100 and Turing (64 a core, 8 cores), A100 (256 a core, 4 cores), GA102 and Ada AD102 (128 a
# core, 4 cores; GeForce boards run some modes at half of it, so these are upper bounds), H100 (512 a core).
_TENSOR_FMA: dict[tuple[int, int], dict[str, int]] = {
    (7, 0): {"fp16_tensor": 512},
    (7, 5): {"fp16_tensor": 512},
    (8, 0): {"fp16_tensor": 1024, "bf16_tensor": 1024, "tf32": 512, "fp64_tensor": 64},
    (8, 6): {"fp16_tensor": 512, "bf16_tensor": 512, "tf32": 256},
    (8, 9): {"fp16_tensor": 512, "bf16_tensor": 512, "tf32": 256, "fp8_tensor": 1024},
    (9, 0): {"fp16_tensor": 2048, "bf16_tensor": 2048, "tf32": 1024, "fp64_tensor": 128, "fp8_tensor": 4096},
}

#: Every unit that some GPU of the tables has.
UNITS = ("fp16", "fp32", "fp64", "tf32", "fp16_tensor", "bf16_tensor", "fp8_tensor", "fp64_tensor")


def flops_per_sm_per_cycle(compute_capability: tuple[int, int], unit: str) -> int | None:
    """Look up how many floating-point operations one multiprocessor completes per clock cycle.

    Parameters
    ----------
    compute_capability : (int, int)
        Major and minor number, for example ``(9, 0)``.
    unit : str
        One of `UNITS`. ``"fp32"`` and the other plain ones count fused multiply-adds outside the tensor
        cores; ``"tf32"`` and those ending in ``_tensor`` count dense matrix products on them.

    Returns
    -------
    int or None
        FLOPs, a fused multiply-add counted as two; None where the tables do not say.

    Raises
    ------
    UnknownNameError
        No GPU has such a unit.

    Notes
    -----
    Sources: "Throughput of Native Arithmetic Instructions" in the CUDA C++ Programming Guide; the white
    papers of NVIDIA's Volta, Turing, A100, GA102, Ada and H100 architectures for the tensor cores.

    Examples
    --------
    >>> flops_per_sm_per_cycle((9, 0), "fp32")
    256
    >>> flops_per_sm_per_cycle((8, 6), "fp64_tensor") is None
    True
    """
    if unit not in UNITS:
        raise unknown("arithmetic unit", unit, UNITS)
    results = {**_FMA_RESULTS.get(compute_capability, {}), **_TENSOR_FMA.get(compute_capability, {})}
    return 2 * results[unit] if unit in results else None
