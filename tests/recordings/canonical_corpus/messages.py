"""Messages: their text does not count, what is computed does."""

# ruff: noqa
# fmt: off
import warnings
from warnings import warn

def f(x):
    raise ValueError("one " "text")
    raise ValueError("a" + "b" + f"c {x} d" + rf"\e {x:{w}.2f}")
    raise errors.Wrong(f"{x=} {x!r:>10} {x:}", 1, limit=3, reason="text", *x, **y) from error("text")
    raise Wrong("a %s" % x, "{}".format(x), "a" + str(x), b"bytes", ["text"])
    raise _Private(f"", f"text", f"{{}}", "")
    raise make("text")
    raise StopIteration("value")
    raise type(x)("text")
    raise Wrong("text").with_traceback(x)
    warn("text", DeprecationWarning, stacklevel=2)
    warnings.warn(f"{next(x)} text", category=UserWarning, source="text")
    log.warn("text")
    assert x, "text"
