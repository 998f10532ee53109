"""Write the pages of the reference: as ``sphinx-autogen`` does, and all modules of a topic on one page."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx import locale
from sphinx.ext.autosummary.generate import DummyApplication, generate_autosummary_docs
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["documented", "main"]


def documented(module: str) -> list[str]:
    """Name what a module defines for others: autosummary tells it to a template of that module only."""
    comments = ModuleAnalyzer.for_module(module).find_attr_docs()
    names = {name for owner, name in comments if not owner}
    found = vars(import_module(module))
    names |= {
        name
        for name, value in found.items()
        if callable(value) and getattr(value, "__module__", "") == module
    }
    return sorted(name for name in names if not name.startswith("_"))


def main(arguments: Sequence[str]) -> None:
    """Write the pages that an index lists, and delete those that it lists no more."""
    index, templates, folder = map(Path, arguments)
    app = DummyApplication(locale.get_translator())
    logging.setup(app, sys.stdout, sys.stderr)  # type: ignore[arg-type]
    app.config.templates_path.append(str(templates.resolve()))
    app.config.autosummary_context = {"documented": documented}
    written = generate_autosummary_docs([str(index)], folder, app=app)  # type: ignore[arg-type]
    for page in set(folder.glob("*.rst")) - {Path(path) for path in written}:
        page.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
