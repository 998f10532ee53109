"""Every expression."""

# ruff: noqa
# fmt: off
a = b + c - d * e / f // g % h ** i @ j << k >> l | m ^ n & o
b = not a and ~b or -c is not +d
c = a if b else c
d = (lambda x, /, y=1, *args, z, w=2, **kwargs: x, lambda: 0)
e = {1: 2, **a, None: 3}, {1, *b}, [*c], (), {}
f = [x for x in y if x if y for z in x], {x: y for x, y in z}, {x for x in y}, (x for x in y)
g = a[1], a[1:2:3], a[:, ..., None], a[*b], a[1:, 2], a[::]
h = f(1, *a, b=2, **c)(x for x in y)
i = x.y.z[0].w
j = a < b == c in d not in e is f >= g
k = (y := 1, z)
l = a if (b := c) else d
m = "one" 'two' """three
four"""
m = (yield), (yield 1), (yield from x)
warn("text", stacklevel=2)
warnings.warn("other text")
logger.warn("kept")
