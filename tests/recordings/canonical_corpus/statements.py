"""Every statement, in the forms whose parsing changed or might."""

# ruff: noqa
# fmt: off
from __future__ import annotations

import os.path as path, sys
from . import sibling
from ..parent.module import *

x = y = 1
x += 2; x @= 3
first, *rest = [1, 2, 3]
label: int = 4
unused: "a string annotation"
items.attribute: float
del x, items[0]
assert x, "message"
with open(x) as f, open(y): pass
with (open(x) as f, open(y) as g,):
    print(f, g)
for i in 1, *rest:
    continue
else:
    x = 0
while (n := next(x)) and not n < 1 <= 2 != 3:
    if n: break
    elif m: n = 0
    else: n = 1
try:
    raise ValueError("expected one thing", x) from error
except (TypeError, OSError) as error:
    raise
except Exception:
    raise TypeError
else:
    pass
finally:
    x = None
try: run()
except* ValueError: x = 1
def f():
    global a, b
    def g():
        nonlocal c
        c = 1
    return
