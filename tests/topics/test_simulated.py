"""Every study of every topic in Numba's simulator: exactly right results on whole numbers."""

from __future__ import annotations

import json
from collections.abc import Callable

from gpuguide.catalogue import studies, topic_names
from gpuguide.measure.plan import Variant

STUDIES = {f"{topic}.{name}": study for topic in topic_names() for name, study in studies(topic).items()}
# A handful of the 40 shapes: they are two launchers with other numbers.
CHOSEN = {"launch_sizes.map": ["t32_i1_all", "t64_i4_all", "t64_i1_b2", "t64_i4_b2"]}
# Fewer threads than at the study's own sizes, and still a whole tile with edges beside it, or a second block.
SIZES = {
    "atomics.counts": (0, 31, 257),
    "image.bright": (2491,),
    "kernel_families.total": (0, 257),
    "matmul.odd_product": (33,),
    "matmul.product": (0, 17),
    "precision.many_sums": (0, 4097),
    "profiling.turns": (0, 6, 1320),
    "reductions.total": (0, 1, 257),
    "scan.within": (0, 33, 257),
    "shared_memory.transpose": (0, 67, 65 * 67),
    "stencil.step": (0, 31 * 33, 35 * 37),
    "stencil.steps": (0, 143),
}

_SIMULATE = """
import json
from gpuguide.catalogue import studies
from gpuguide.measure.gate import Trial
from gpuguide.measure.session import current
machine = current().machine
for name, (sizes, variants) in json.loads({wanted!r}).items():
    topic, _, study = name.partition(".")
    study = studies(topic)[study]
    found = []
    try:
        for size in sizes:
            trial = Trial(study, size, "exact", machine.spaces, machine.gpu, host=machine.host)
            found += [trial.check(variant).variant for variant in study.chosen(variants)]
    except Exception as error:
        found = [repr(error)]
    print(json.dumps([name, len(found), sorted(set(found))]))
"""


def simulated(variant: Variant) -> bool:
    on_cpu = not variant.needs_gpu and not variant.why_missing()
    return on_cpu or (variant.simulatable and variant.arrays == "numba")


def test_variants_equal_the_reference_in_the_simulator(fresh_python: Callable[..., str]) -> None:
    """At sizes of no whole warps and blocks. On random numbers, too, each is checked before it is timed."""
    wanted, expected = {}, []
    for name, study in STUDIES.items():
        sizes = SIZES.get(name, study.small)
        names = CHOSEN.get(name, [v.name for v in study.variants if simulated(v)])
        if sizes and names and not name.startswith("segmented_sieve."):
            wanted[name] = sizes, names
            expected.append([name, len(sizes) * len(names), sorted(names)])
    snippet = _SIMULATE.format(wanted=json.dumps(wanted))
    # What is compiled for the CPU is to be right there, not quick.
    printed = fresh_python(snippet, timeout=900, NUMBA_ENABLE_CUDASIM="1", NUMBA_OPT="0")
    assert [json.loads(line) for line in printed.splitlines()] == expected
