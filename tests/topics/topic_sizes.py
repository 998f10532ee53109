"""Awkward sizes, and a run of studies in Numba's simulator."""

from __future__ import annotations

from collections.abc import Callable

SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 1009)

_SNIPPET = """
from gpuguide.topics.{module} import {maker} as make
report = make().check_all({sizes}, {variants})
names = sorted({{result.variant for result in report}})
print(len(report), *names)
"""


def in_simulator(
    fresh_python: Callable[..., str],
    module: str,
    sizes: tuple[int, ...],
    maker: str = "study",
    variants: tuple[str, ...] | None = None,
) -> tuple[int, list[str]]:
    """Check a study of a module such as `primes.study`; return the number of checks, and the variants."""
    snippet = _SNIPPET.format(module=module, maker=maker, sizes=sizes, variants=variants)
    count, *names = fresh_python(snippet, timeout=300, NUMBA_ENABLE_CUDASIM="1").split()
    return int(count), names
