"""PyTorch and JAX, which are optional: imported when they are first used, or a reason why they cannot be."""

from __future__ import annotations

import functools
import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from gpuguide.errors import BackendError

__all__ = ["jax_numpy", "missing_jax", "missing_torch", "pytorch"]


@functools.cache
def missing_torch() -> str:
    """Say why PyTorch cannot be used on a GPU here; ``""`` if it can.

    >>> missing_torch() == missing_torch()
    True
    """
    if find_spec("torch") is None:
        return (
            "PyTorch is not installed; pytorch.org says how to install it for your CUDA version"
        )
    if not import_module("torch").cuda.is_available():
        return "PyTorch is installed without CUDA, or finds no GPU"
    return ""


@functools.cache
def missing_jax() -> str:
    """Say why JAX cannot be used on a GPU here; ``""`` if it can.

    >>> missing_jax() == missing_jax()
    True
    """
    if find_spec("jax") is None:
        return "JAX is not installed; pip install 'jax[cuda13]' brings it with CUDA 13"
    _keep_memory_free()
    if import_module("jax").default_backend() != "gpu":
        return "JAX is installed without CUDA, or finds no GPU"
    return ""


def pytorch() -> Any:
    """Return the module, or raise `BackendError` with the reason."""
    if reason := missing_torch():
        raise BackendError(f"{reason}.")
    return import_module("torch")


def jax_numpy() -> Any:
    """Return ``jax.numpy``, or raise `BackendError` with the reason."""
    if reason := missing_jax():
        raise BackendError(f"{reason}.")
    return import_module("jax.numpy")


def _keep_memory_free() -> None:
    # Unless told not to, JAX takes most of the GPU's memory when it first uses the GPU.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
