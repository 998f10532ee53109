"""What a GPU says of a kernel that the tracer found right: the same launches, the same results."""

from __future__ import annotations

import ast
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from gpuguide.exercises.answer import FILE, Answer
from gpuguide.exercises.judging import difference
from gpuguide.exercises.model import KernelExercise, Launch
from gpuguide.exercises.report import Finding, Report
from gpuguide.machine.backends import numba_cuda
from gpuguide.machine.device import require_gpu
from gpuguide.tracer.memory import Array

__all__ = ["judge_on_gpu"]


def judge_on_gpu(exercise: KernelExercise, answer: Answer, report: Report) -> tuple[Report, str]:
    """Launch an answer with Numba; return the report, and a sentence."""
    gpu = require_gpu().name
    names = {**answer.names, "__name__": "answer"}
    exec(compile(ast.parse(answer.source, FILE), FILE, "exec"), names)
    for n_right, each in enumerate(exercise.launches()):
        if wrong := _wrong(names[answer.name], each):
            finding = Finding("gpu", f"The tracer found nothing wrong, but on the {gpu}: {wrong}")
            return replace(
                report, findings=(finding,), about=f"With {each.about}", n_right=n_right, trace=None
            ), ""
    return report, f"The {gpu} agrees."


def _wrong(kernel: Any, each: Launch) -> str:
    arguments = {name: _as_numpy(value) for name, value in each.arguments.items()}
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    on_gpu = {name: numba_cuda().to_device(value) for name, value in arrays.items()}
    kernel[each.blocks, each.threads, 0, each.shared_bytes](*{**arguments, **on_gpu}.values())
    for name, held in arrays.items():
        values = each.expected.get(name)
        right = held if values is None else np.array(values, held.dtype).reshape(held.shape)
        if wrong := difference(on_gpu[name].copy_to_host(), right, each.tolerance):
            return f"{name}: {wrong}"
    return ""


def _as_numpy(value: Any) -> Any:
    if not isinstance(value, Array):
        return value
    if value.memory.written is not None:
        unset = nan if value.dtype.name.startswith("f") else 77
        return np.full(value.shape, unset, value.dtype.name)
    return np.array(value.values(), value.dtype.name).reshape(value.shape)
