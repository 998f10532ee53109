def smooth_all(jit, smooth, signals):
    """Smooth every signal with compiled code."""
    results = []
    for signal in signals:
        compiled = jit(smooth)
        results.append(compiled(signal.astype("float64")))
    return results
