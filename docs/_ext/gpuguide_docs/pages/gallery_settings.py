"""The settings of sphinx-gallery, shared by conf.py, the recorder and the tests."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from sphinx.errors import ExtensionError

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import read_pages, read_sections

__all__ = ["GALLERY", "ListedOrder", "gallery_conf"]

#: The gallery's folder below Sphinx's source folder; sphinx-gallery writes it into tables of contents.
GALLERY = "gallery"


class ListedOrder:
    """Sort key: the place of a page in ``pages.toml``."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __repr__(self) -> str:
        # Sphinx compares configurations by this text, so it names the content and no address.
        return f"ListedOrder({self.names!r})"

    def __call__(self, path: str) -> int:
        """Return the place of a script; an unknown one is an error that names the file."""
        name = PurePath(path).stem
        if name not in self.names:
            raise ExtensionError(
                f"{path}: this page is not in examples/pages.toml; add an entry there or delete it"
            )
        return self.names.index(name)


def gallery_conf(layout: Layout) -> dict[str, Any]:
    """Give ``sphinx_gallery_conf``."""
    return {
        "examples_dirs": str(layout.examples),
        "gallery_dirs": GALLERY,
        "backreferences_dir": f"{GALLERY}/backreferences",
        "filename_pattern": r"\.py$",
        "ignore_pattern": r"(^|/)_",
        "plot_gallery": False,
        "subsection_order": [
            *(f"../{layout.examples.name}/{section.name}" for section in read_sections(layout)),
            # What tools leave there, such as .ruff_cache.
            "*",
        ],
        "within_subsection_order": ListedOrder(tuple(page.name for page in read_pages(layout))),
        "doc_module": ("gpuguide",),
        # Only then does sphinx-gallery pass on what stands in for a script's variables: the replayed page.
        "inspect_global_variables": True,
        "remove_config_comments": True,
        "show_signature": False,
        # Nothing was run, so there are no times; the pages of times would load scripts from other hosts.
        "write_computation_times": False,
        "min_reported_time": 1e9,
        # The extension writes the downloads, with numbers and kernels in them.
        "download_all_examples": False,
        "notebook_extensions": set(),
        "image_scrapers": (),
        "reset_modules": (),
        # Other processes would not have the replacements of `replay.seams`, and would run the scripts.
        "parallel": False,
        "binder": {},
    }
