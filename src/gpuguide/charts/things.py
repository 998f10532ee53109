"""One colour for one thing: what a variant is, by its device, name and label, and how a chart draws it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpuguide.charts.style import CPU, CPU_SERIES, CUPY, KERNEL, KERNELS, LIBRARY, NUMPY, SERIES

if TYPE_CHECKING:
    from gpuguide.results.records import VariantInfo
    from gpuguide.results.results import Results

__all__ = ["Look", "is_copy_words", "looks_of", "thing_in_words", "thing_of"]

# The first rule whose words occur decides. They are looked for in a variant's name and label.
_GPU_RULES = (
    (
        KERNEL,
        r"rawkernel|elementwisekernel|reductionkernel|@cuda|@vectorize|@guvectorize|cupyx?\.jit|\bnumba",
    ),
    (LIBRARY, r"torch|\bjax|cublas|(?<!without )\bcub\b|_cub\b|\bnccl|\bdask|primesieve"),
    # Not what a kernel of one's own takes from CuPy: "CuPy arrays", "CuPy's grid".
    (CUPY, r"cupy(?!'s grid|[ _]arrays?\b)|\bcp\.|default_rng|\btwo passes"),
)
_CPU_RULES = ((LIBRARY, r"primesieve|torch"), (NUMPY, r"numpy|scipy|\bnp\."))
# The GPU work of these topics is CuPy's, though no label says so; kernels lie in a module of that name.
_CUPY_TOPICS = frozenset(
    ["fusion", "memory_pools", "overlap", "random_numbers", "slicing", "sort_search", "streams", "transfers"]
)
_COPIES = re.compile(r"\bpageable\b|\bpinned\b|\bcop(?:y|ies)\b")

# What follows in a chart when the first colour of a thing is taken.
_NEXT = {
    NUMPY: (NUMPY, CPU_SERIES[0], CPU),
    CPU: (CPU, CPU_SERIES[0], NUMPY),
    CUPY: (CUPY, SERIES[5], SERIES[7], SERIES[2], SERIES[6], SERIES[4]),
    KERNEL: KERNELS,
    LIBRARY: (LIBRARY, SERIES[7], SERIES[5]),
}
# Greys cannot tell the lines of a chart of CPUs alone apart.
_NEXT_WITHOUT_GPU = (SERIES[2], SERIES[6], SERIES[5], SERIES[7])
_PINNED, _PAGEABLE = (0, (5, 2)), (0, (2, 1.4))


@dataclass(frozen=True)
class Look:
    """How a variant is drawn: its colour, the dashes of its line, and whether its bar is hatched."""

    colour: str
    dashes: Any = "-"
    hatched: bool = False

    def bar(self) -> dict[str, Any]:
        """Give the options of a bar."""
        if self.hatched:
            return {"facecolor": "none", "edgecolor": self.colour, "hatch": "////", "linewidth": 1.2}
        return {"color": self.colour}


def thing_of(info: VariantInfo) -> str:
    """Give the colour of what a variant is: NumPy, another CPU side, CuPy, one's own kernel or a library."""
    words = f"{info.name} {info.label}".lower()
    if info.device == "cpu":
        thing = next((thing for thing, rule in _CPU_RULES if re.search(rule, words)), CPU)
        return CPU if thing == NUMPY and (info.threads or 1) > 1 else thing
    for thing, rule in _GPU_RULES:
        if re.search(rule, words):
            return thing
    topic = re.search(r"\btopics\.(\w+)\.(\w+)", info.source)
    return CUPY if topic and topic[1] in _CUPY_TOPICS and topic[2] != "kernels" else KERNEL


def thing_in_words(words: str) -> str | None:
    """Give the colour of what a label of its own names; None where it names nothing."""
    words = words.lower()
    for thing, rule in (*_GPU_RULES, (NUMPY, r"(numpy|scipy|\bnp\.)(?!.*(all|every|\d) threads)")):
        if re.search(rule, words):
            return thing
    if re.search(r"numpy|scipy|\bcpu|\bnjit|all threads", words):
        return CPU
    return KERNEL if re.search(r"\bgpu\b", words) else None


def is_copy_words(words: str) -> bool:
    """Tell whether a label speaks of copies between the memories of CPU and GPU."""
    return bool(_COPIES.search(words.lower()))


def _is_copy(info: VariantInfo) -> bool:
    # Copies on the GPU alone are work like any other.
    return info.device == "gpu" and info.clock == "end_to_end" and is_copy_words(info.label)


def looks_of(results: Results, names: Sequence[str], *, apart: bool = True) -> dict[str, Look]:
    """Give the look of each variant that a chart draws; two of one thing differ, unless `apart` is off.

    Copies have the colour of what they are copies for, and dashes; where all are copies, dashes tell nothing.
    """
    infos = [info for info in results.variants if info.name in set(names)]
    copies = [info for info in infos if _is_copy(info)]
    if len(copies) == len(infos):
        copies = []
    on_gpu = any(info.device == "gpu" for info in infos)
    looks: dict[str, Look] = {}
    for info in infos:
        thing = thing_of(info)
        is_copy = info in copies
        dashes = (_PAGEABLE if "pageable" in info.label else _PINNED) if is_copy else "-"
        others = () if on_gpu or thing not in (NUMPY, CPU) else _NEXT_WITHOUT_GPU
        candidates = [Look(colour, dashes, is_copy) for colour in (thing, *others, *_NEXT[thing])]
        taken = looks.values()
        free = (look for look in candidates if not apart or look not in taken)
        looks[info.name] = next(free, candidates[0])
    return looks
