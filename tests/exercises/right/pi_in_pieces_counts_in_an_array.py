"""Keeps the count of each piece, and adds up the counts at the end."""

import numpy as np


def pi_in_pieces(draw, n, piece):
    counts = np.array(
        [
            np.count_nonzero((pts[0] * pts[0] + pts[1] * pts[1]) < 1.0)
            for pts in (draw(min(piece, n - s)) for s in range(0, n, piece))
        ]
    )
    estimate = 4 * counts.sum() / n
    return estimate, np.sqrt(estimate * (4 - estimate) / n)
