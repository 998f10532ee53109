"""Where one page is, for ``make html PAGE=name``: the file that Sphinx reads, and the one that it writes."""

from __future__ import annotations

import sys
from pathlib import Path

from gpuguide.errors import GpuGuideError, unknown
from gpuguide.exercises import pool
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import PagesError, read_pages

__all__ = ["find_page", "main"]


def find_page(layout: Layout, name: str) -> tuple[Path, Path]:
    """Give a page's source below ``docs`` and its HTML, each from the project's root.

    A page of the guide has its name; one beside the sections, such as *Contribute*, that of its file; that
    of an exercise is such as ``exercises/guard``.
    """
    pages = {page.name: page for page in read_pages(layout)}
    beside = [path.stem for path in layout.docs.glob("*.md")]
    beside += [f"exercises/{name}" for name in pool.names()]
    if name in pages:
        page = pages[name]
        docname, suffix = page.docname, ".md" if page.format == "myst" else ".rst"
    elif name in beside:
        docname, suffix = name, ".md"
    else:
        raise unknown("page", name, [*pages, *beside])
    return Path("docs", docname + suffix), Path("docs/_build/html", f"{docname}.html")


def main(name: str) -> int:
    """Print both paths, a line each; 2 for an unknown page."""
    try:
        print(*find_page(Layout(Path.cwd()), name), sep="\n")
    except (GpuGuideError, PagesError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
