def window_means(cp, signal, starts, length):
    """Return the mean of each window of a recording."""
    first = min(starts)
    part = cp.asarray(signal[first : max(starts) + length])
    windows = [part[start - first : start - first + length] for start in starts]
    return cp.stack([cp.mean(window) for window in windows]).get()
