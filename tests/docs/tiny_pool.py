"""A pool of two exercises in memory, for tests that must not depend on the real one."""

from __future__ import annotations

from pathlib import Path

from gpuguide.exercises import model, pool
from gpuguide.exercises.model import KernelExercise, Launch

STATEMENT = """\
Add *one* to each element. The kernel gets

- `x`: whole numbers;
- `out`: the result.

```python
out[i] = x[i] + 1
```

See [why](https://why.example).
"""
HINTS = "---\nLook at `x`.\n---\nThere is an index beyond the end.\n"
START = '''\
from numba import cuda


@cuda.jit
def add_kernel(x, out):
    """Add one."""
    out[cuda.grid(1)] = x[cuda.grid(1)] + 1  # is there such an element?
'''
SOLUTION = '''\
from numba import cuda


@cuda.jit
def add_kernel(x, out):
    """Add one."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 1
'''
TEXTS = {"task.md": STATEMENT + HINTS, "start.py": START, "solution.py": SOLUTION}


def _texts(folder: Path, **changes: str) -> None:
    folder.mkdir(parents=True)
    for name, text in TEXTS.items():
        (folder / name).write_text(changes.get(name.partition(".")[0], text), encoding="utf-8")


def _launches() -> list[Launch]:
    return []


def use_pool(monkeypatch, folder: Path, *, texts=None, **changes) -> dict[str, KernelExercise]:
    """Have this process know the two exercises; `texts` and `changes` are those of the first."""
    common = {
        "level": "beginner",
        "minutes": 5,
        "launches": _launches,
        "pages": ("first",),
        "tags": ("grid",),
    }
    one = {"title": "Add one", "teaches": "It teaches one.", **common, **changes}
    two = {**common, "title": "Add two", "teaches": "It teaches two.", "pages": (), "level": "advanced"}
    two["tags"] = ("shared memory",)
    _texts(folder / "add_one", **(texts or {}))
    _texts(folder / "add_two")
    known = {
        "add_one": KernelExercise(name="add_one", **one),
        "add_two": KernelExercise(name="add_two", **two),
    }

    def get(name):
        from gpuguide.errors import unknown

        if name not in known:
            raise unknown("exercise", name, known)
        return known[name]

    monkeypatch.setattr(model, "POOL", folder)
    monkeypatch.setattr(pool, "get", get)
    monkeypatch.setattr(pool, "names", lambda: list(known))
    return known
