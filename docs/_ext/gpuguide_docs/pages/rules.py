"""Which rules a page follows: those of lessons, once its entry says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["has_lesson_rules"]


def has_lesson_rules(page: Page) -> bool:
    """Tell whether a page's entry says ``rules = "lesson"``; without the key, the former rules hold.

    Parameters
    ----------
    page : Page
        Its entry.

    Returns
    -------
    bool
        Whether the build links terms by itself, and draws charts for phones.
    """
    return bool(getattr(page, "rules", "") == "lesson")
