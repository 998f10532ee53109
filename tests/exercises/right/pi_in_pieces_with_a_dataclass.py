"""Keeps its counts in a dataclass."""

import math
from dataclasses import dataclass


@dataclass
class Acc:
    inside: float = 0.0
    n: int = 0

    def add(self, x, y):
        self.inside += float((x * x + y * y < 1).mean()) * len(x)
        self.n += len(x)


def pi_in_pieces(draw, n, piece):
    a = Acc()
    for start in range(0, n, piece):
        a.add(*draw(min(piece, n - start)))
    p = a.inside / a.n
    return (4 * p, 4 * math.sqrt(max(p * (1 - p), 0) / a.n))
