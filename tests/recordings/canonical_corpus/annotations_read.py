"""Annotations count: this source reads some."""

# ruff: noqa
# fmt: off
import functools

@functools.singledispatch
def show(x: object, /, *args: *Ts, y: "int" = 1, **kwargs: P.kwargs) -> str | None: pass

@show.register
def _(x: list[int]): pass

size: int = 1
bare: float
(grouped): int
