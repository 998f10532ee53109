"""Roles and directives: what readers see of numbers, kernels, results and exercises."""
