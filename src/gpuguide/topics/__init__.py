"""Topics: for each its reference, kernels, launchers, traffic models and study."""
