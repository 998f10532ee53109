"""A check for results that rounding cannot touch: equal to the reference, in the memory they lie in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuguide.errors import MismatchError
from gpuguide.measure.buffers import first_difference


class EqualCheck:
    """Every element equals the reference, to the last bit.

    For operations that are rounded in the same way everywhere, or not at all. The reference is worked out
    where the result lies, which for large arrays is much sooner than on the host.

    Parameters
    ----------
    reference : callable
        Takes the inputs, returns what should come out.

    Examples
    --------
    >>> import numpy as np
    >>> check = EqualCheck(lambda x: x + 1)
    >>> check.compare(np.array([2.0, 3.5]), check.prepare((np.array([1.0, 2.5]),)))
    (0.0, 0.0)
    """

    def __init__(self, reference: Callable[..., Any]) -> None:
        self.reference = reference

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Work out the reference.

        Parameters
        ----------
        inputs : tuple of arrays
            As they were before the call.

        Returns
        -------
        array
            What should come out.
        """
        return self.reference(*inputs)

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Compare bit for bit.

        Parameters
        ----------
        output, prepared : array
            What came out, and what should; of any number of axes.

        Returns
        -------
        (float, float)
            Largest difference and tolerance, both 0.

        Raises
        ------
        MismatchError
            An element differs; the message names the first, counted in the order of memory.
        """
        if output.shape != prepared.shape:
            raise MismatchError(f"The output should have shape {prepared.shape}; it has {output.shape}.")
        output, prepared = output.reshape(-1), prepared.reshape(-1)
        first = first_difference(output, prepared)
        if first is None:
            return 0.0, 0.0
        expected, got = prepared[first].item(), output[first].item()
        raise MismatchError(f"The element at {first} is wrong: expected {expected!r}, got {got!r}.")
