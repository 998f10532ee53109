"""Declares vectors in one piece and passes views.

Found: exception.
"""


def smooth_all(jit, smooth, signals):
    compiled = jit("float64[::1](float64[::1])")(smooth)
    return [compiled(signal if signal.dtype == "float64" else signal.astype("float64")) for signal in signals]
