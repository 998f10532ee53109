"""Annotations outside classes: those count that do something, and names that are declared."""


# ruff: noqa
# fmt: off
def f(x: g(), y: (z := int) = 1, w: int = 2) -> h(1)[0]:
    local: int
    (not_local): int
    x: int = 3
    g().x: int
    g()[0]: int = 1

x: Annotated[int, g()] = 1
y: int = 2
pass
