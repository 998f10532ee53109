"""Structural pattern matching."""

# ruff: noqa
# fmt: off
match command:
    case 0 | -1.5 | 1 + 2j | "text" "joined" | b"bytes": pass
    case None | True | False: x = 1
    case [a, *_, b] | (a, b): x = 2
    case {"key": value, **rest}: x = 3
    case {}: x = 4
    case Point(0, y=0) | module.Point(): x = 5
    case [1, [2, *others]] as whole if whole: x = 6
    case module.name: x = 7
    case captured if captured > 1: x = 8
    case _: x = 9
