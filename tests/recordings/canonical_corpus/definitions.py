"""Functions and classes, without what is only read."""

# ruff: noqa
# fmt: off
import asyncio

@decorator(1)
@other
def f(a: int, b: "str" = 1, /, c: list[int] = (), *args: int, d, e: float = 2.0, **kwargs: dict) -> None:
    """A docstring."""

    x: int
    y: int = 3
    return lambda q=a: q

class Bare: pass

class Full(Base, metaclass=Meta, key=1):
    """A docstring."""

    size: int
    rate: float = 1.0

    @property
    def name(self) -> str:
        """A docstring."""
        return self._name

async def g(x):
    "A docstring."
    async with x as y, z:
        async for i in y:
            await i
        else:
            return [j async for j in x if await j]
    yield x
