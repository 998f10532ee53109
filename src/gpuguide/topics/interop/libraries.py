"""PyTorch and JAX, which are optional: imported when they are first used, or a reason why they cannot be."""

import functools
import os
from importlib import import_module
from importlib.util import find_spec

from gpuguide.errors import BackendError


@functools.cache
def missing_torch():
    """Say why PyTorch cannot be used on a GPU here; ``""`` if it can."""
    if find_spec("torch") is None:
        return (
            "PyTorch is not installed; pytorch.org says how to install it for your CUDA version"
        )
    if not import_module("torch").cuda.is_available():
        return "PyTorch is installed without CUDA, or finds no GPU"
    return ""


@functools.cache
def missing_jax():
    """Say why JAX cannot be used on a GPU here; ``""`` if it can."""
    if find_spec("jax") is None:
        return "JAX is not installed; pip install 'jax[cuda13]' brings it with CUDA 13"
    # Unless told not to, JAX takes most of the GPU's memory when it first uses the GPU.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if import_module("jax").default_backend() != "gpu":
        return "JAX is installed without CUDA, or finds no GPU"
    return ""


def pytorch():
    """Return the module, or raise `BackendError` with the reason."""
    if reason := missing_torch():
        raise BackendError(f"{reason}.")
    return import_module("torch")


def jax_numpy():
    """Return ``jax.numpy``, or raise `BackendError` with the reason."""
    if reason := missing_jax():
        raise BackendError(f"{reason}.")
    return import_module("jax.numpy")
