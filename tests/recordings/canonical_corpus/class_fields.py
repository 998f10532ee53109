"""Fields of classes: name, order, annotation and value count."""

# ruff: noqa
# fmt: off
from __future__ import annotations

@dataclass
class Limits:
    """A docstring."""

    float32: int
    float64: "int"
    whole: ClassVar[int] = 3
    either: int | None = None
    joined: "Class" 'Var[int]' = 1
    (grouped): int = 2
    items[0]: tuple[int, ...]
    other.attribute: Annotated[int, f"{x}", 1.0]
    if condition:
        conditional: lambda x: x

    def method(self, x: int) -> "str":
        self.x: int = 1
        local: int
        class Inner(NamedTuple):
            first: int
            second: float = 1.0
        return Inner

    after: list["Limits"] = field(default_factory=list)
    "a text below a field"

outside: int = 1
