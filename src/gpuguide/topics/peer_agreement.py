"""The guide's clock beside CuPy's benchmark, by the comparison that the tests of this guide hold."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import gpuguide

SCRIPT = Path(gpuguide.__file__).parents[2] / "tests" / "peers" / "compare_with_peers.py"


def agreement(durations: Sequence[str] = ("100 us", "1 ms")) -> str:
    """Time copies that last about so long by us, by CuPy, and by us again.

    Parameters
    ----------
    durations : sequence of str
        Of ``"100 us"``, ``"1 ms"`` and ``"50 ms"``.

    Returns
    -------
    str
        A table; where only the package is installed, a sentence that says where the comparison is.
    """
    if not SCRIPT.exists():
        return "The comparison is part of the guide's repository: tests/peers/compare_with_peers.py."
    peers = _load(SCRIPT)
    copies = {name: peers._sized(peers.DURATIONS[name]) for name in durations}
    return str(peers.table([peers.warm_by_cupy(copy, name) for name, copy in copies.items()]))


def _load(path: Path) -> ModuleType:
    if path.stem not in sys.modules:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # dataclasses look their module up there
        spec.loader.exec_module(module)
    return sys.modules[path.stem]
