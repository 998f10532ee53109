"""Which packages are installed here, and in which version, without importing them."""

from __future__ import annotations

from importlib import metadata

__all__ = ["installed_version"]


def installed_version(name: str) -> str | None:
    """Look up an installed package.

    Parameters
    ----------
    name : str
        As it is installed: ``"numba-cuda"``.

    Returns
    -------
    str or None
        Its version; None where it is not installed.

    Examples
    --------
    >>> installed_version("no-such-package") is None
    True
    """
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
