"""Compiles numpydoc's template once: numpydoc itself does so for each of a thousand docstrings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx

if TYPE_CHECKING:
    from jinja2 import Template
    from sphinx.application import Sphinx

__all__ = ["OneCompilation", "setup"]


class OneCompilation(SandboxedEnvironment):
    """An environment whose templates are compiled once for all environments of a process."""

    _compiled: dict[str, Template] = {}  # noqa: RUF012  shared on purpose

    def get_template(self, name: Any, *args: Any, **options: Any) -> Template:
        """Return a template, compiled when first asked for."""
        if name not in self._compiled:
            self._compiled[name] = super().get_template(name, *args, **options)
        return self._compiled[name]


def setup(app: Sphinx) -> None:
    """Put it in the place of the environment that numpydoc makes for each docstring."""
    docscrape_sphinx.SandboxedEnvironment = OneCompilation
