"""A clock that holds the compiler beside the compilation and a call alone: what the first really times."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from numba import njit

from gpuguide.clocks import quiet
from gpuguide.errors import ArgumentError
from gpuguide.session import current
from gpuguide.timing import host_timer


def beside_compilation(
    wrong: Callable[[Callable[..., Any]], float],
    function: Any,
    arguments: tuple[Any, ...],
    n_turns: int = 7,
) -> tuple[list[float], list[float], list[float]]:
    """Take samples of a wrong clock, of the compilation and of a later call in turns.

    Parameters
    ----------
    wrong : callable
        Gets a function that was never called, so that its first call compiles; returns one sample of the
        wrong clock, in seconds a call.
    function : numba dispatcher
        Made by ``njit``; called here once, so that its signature is known.
    arguments : tuple
        What it is called with.
    n_turns : int
        How many samples of each.

    Returns
    -------
    wrong_samples : list of float
        Seconds a call of the wrong clock.
    compile_samples : list of float
        Seconds of compiling the same function for the same types.
    call_samples : list of float
        Seconds of calling what is compiled already.

    Raises
    ------
    ArgumentError
        `n_turns` is below 1.

    Examples
    --------
    >>> try:
    ...     beside_compilation(lambda fresh: 0.1, None, (), n_turns=0)
    ... except ArgumentError as error:
    ...     print(error)
    beside_compilation: n_turns must be at least 1; got 0.
    """
    if n_turns < 1:
        raise ArgumentError(f"beside_compilation: n_turns must be at least 1; got {n_turns}.")
    host = current().machine.host
    later = host_timer(lambda: function(*arguments), host=host)
    wrong_samples, compilations, calls = [], [], []
    # Kept to the end: to free compiled code takes as long as to make it, and would fall into some sample.
    all_fresh = []
    for _ in range(n_turns):
        all_fresh += [njit(function.py_func), njit(function.py_func)]
        gc.collect()
        with quiet():
            wrong_samples.append(wrong(all_fresh[-2]))
        gc.collect()
        with quiet():
            begin = host.now_ns()
            all_fresh[-1].compile(function.signatures[0])
            compilations.append((host.now_ns() - begin) / 1e9)
        calls.append(later.sample() / later.n_calls / 1e9)
    return wrong_samples, compilations, calls
