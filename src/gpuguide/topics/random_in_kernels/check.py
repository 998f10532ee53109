"""What must hold for points that were counted, and for walks: what chance allows, and no more."""

from math import pi, sqrt

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module

# A right generator is further off once in a thousand million checks; so no recording fails by chance.
SIGMAS = 6.0


class InsideCheck:
    """The share of points within the circle is pi / 4, and each thread's count is as chance has it."""

    def prepare(self, inputs):
        """Keep how many threads there are, and how many points each throws."""
        return tuple(int(x) for x in inputs)

    def compare(self, output, prepared):
        """Return the largest distance from what is expected, in standard deviations."""
        threads, points = prepared
        xp, n, share = array_module(output), threads * points, pi / 4
        counts = output.astype(np.float64)
        most = n // output.size if output.size else 0  # a way may return the sum of all threads
        wrong = int(((counts < 0) | (counts > most)).sum())
        if wrong:
            raise MismatchError(f"{wrong} counts do not lie from 0 to {most}.")
        if not n:
            return 0.0, SIGMAS
        spread = sqrt(n * share * (1 - share))
        distances = [abs(float(counts.sum()) - n * share) / spread]
        if output.size >= 32:
            # The squared distances of so many counts from their mean are nearly normal.
            chi_squared = float(((counts - most * share) ** 2).sum()) / (
                most * share * (1 - share)
            )
            distances.append(
                abs(chi_squared - output.size) / spread_of_squares(output.size, most, share)
            )
        if output.size >= 512:
            distances.append(
                correlation(xp, counts, 256, most, share) * sqrt(output.size - 256)
            )
        return max(distances), SIGMAS


def spread_of_squares(n, points, share):
    """Return the standard deviation of the sum of n squared standardised counts of some points."""
    excess = (1 - 6 * share * (1 - share)) / (points * share * (1 - share))
    return sqrt(n * (2 + excess))


def correlation(xp, counts, lag, points, share):
    """Return how alike counts are to those of the threads a block further on; 1 is the same."""
    scaled = (counts - points * share) / sqrt(points * share * (1 - share))
    return abs(float((scaled[:-lag] * scaled[lag:]).mean()))


class WalkCheck:
    """Each walk ends where so many steps can lead, and all of them are as far away as chance has it."""

    def prepare(self, inputs):
        """Keep how many steps a walk has."""
        return int(inputs[0])

    def compare(self, output, prepared):
        """Return the largest distance from what is expected, in standard deviations."""
        xp, steps, n = array_module(output), prepared, len(output)
        ends = output.astype(np.int64)
        wrong = (xp.abs(ends).sum(axis=1) > steps) | ((ends.sum(axis=1) - steps) % 2 != 0)
        if n and bool(wrong.any()):
            message = f"{int(wrong.sum())} walks end where {steps} steps cannot lead."
            raise MismatchError(message)
        if n < 32:
            return 0.0, SIGMAS
        # Each coordinate has the variance steps / 2, and the square of a distance nearly the spread `steps`.
        means = xp.abs(ends.mean(axis=0)) * sqrt(2 * n / steps)
        squares = float((ends**2).sum(axis=1).mean())
        distances = [*map(float, means), abs(squares - steps) / (steps / sqrt(n))]
        if n >= 512:
            x = ends[:, 0] / sqrt(steps / 2)
            distances.append(abs(float((x[:-256] * x[256:]).mean())) * sqrt(n - 256))
        return max(distances), SIGMAS
