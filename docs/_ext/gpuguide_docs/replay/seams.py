"""Where sphinx-gallery is taken over: pages are replayed, not run. A test fails when a seam has moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx_gallery import gen_gallery, gen_rst

from gpuguide.errors import RecordingError
from gpuguide_docs.pages.cells import Block
from gpuguide_docs.replay.drawn_cells import draw_ahead
from gpuguide_docs.replay.figures import write_thumbnail
from gpuguide_docs.replay.outputs import Output, read_outputs
from gpuguide_docs.replay.replay import ReplayedPage, replay
from gpuguide_docs.replay.states import States, states_of_build

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["Gallery", "setup"]

_LOGGER = logging.getLogger(__name__)
_IDENTIFY = gen_rst.identify_names
# Of sphinx-gallery's links to downloads; ours are in the byline.
_LINKS = frozenset(("sphx-glr-download-link-note", "sphx-glr-footer"))


class Gallery:
    """Stands in for sphinx-gallery's execution during one build."""

    def __init__(self, states: States, draft: tuple[Output | None, ...] | None = None) -> None:
        self.states = states
        self.draft = draft
        self.wait_for_figures: Callable[[], object] = list

    def install(self) -> None:
        """Put the replacements in place of sphinx-gallery's functions."""
        gen_rst.execute_script = self.execute_script
        gen_rst.identify_names = _identify_names
        gen_rst._get_gallery_header = _no_header

    def execute_script(
        self, script_blocks: list[Any], script_vars: dict[str, Any], _conf: object, _file_conf: object
    ) -> tuple[list[str], float]:
        """Replay a page: change its blocks in place, all into text. No outputs are left, and no time."""
        self.wait_for_figures()
        self.wait_for_figures = list
        script = Path(script_vars["src_file"])
        blocks = [Block(*block) for block in script_blocks]
        page = replay(self.states, self.states[script.stem], script, blocks, self.draft)
        script_blocks[:] = page.blocks
        target = Path(script_vars["target_file"])
        write_thumbnail(target, script, self.states, page.pictures, page.thumbnail)
        script_vars["example_globals"] = _Replayed(page)
        # sphinx-gallery reads it once the script should have run.
        script_vars["memory_delta"] = 0.0
        return [""] * len(script_blocks), 0.0


class _Replayed(dict[str, Any]):
    """Travels through sphinx-gallery in the place of a script's variables; it holds none."""

    def __init__(self, page: ReplayedPage) -> None:
        super().__init__()
        self.page = page


def _identify_names(
    script_blocks: list[Any], ref_regex: str, global_variables: Any = None, _node: Any = ""
) -> dict[str, list[dict[str, Any]]]:
    """Give the names that the page's code uses, resolved while it was recorded, and those in its text."""
    in_text: dict[str, list[dict[str, Any]]] = _IDENTIFY(script_blocks, ref_regex, None, None)
    names = {name: list(objects) for name, objects in global_variables.page.names.items()}
    for name, objects in in_text.items():
        names.setdefault(name, []).extend(objects)
    return names


def _no_header(_dir: object, _conf: object, raise_error: bool = True) -> None:
    # sphinx-gallery then writes no index; `section_index` does, because not all pages are scripts.
    return None


class WithoutLinks(SphinxTransform):
    """Takes away sphinx-gallery's links to downloads, which are not those of this guide."""

    default_priority = 300

    def apply(self, **_kwargs: object) -> None:
        """Take them away."""
        for only in list(self.document.findall(addnodes.only)):
            if any(_LINKS & set(node["classes"]) for node in only.findall(nodes.Element)):
                only.parent.remove(only)


def _begin(app: Sphinx) -> None:
    """Take sphinx-gallery over for this build."""
    states = states_of_build(app)
    draft = app.config.gpuguide_draft
    gallery = Gallery(states, read_outputs(Path(draft)) if draft else None)
    gallery.install()
    if draft:
        return
    try:
        gallery.wait_for_figures = draw_ahead(states, app.parallel)
    except RecordingError as error:
        # Whatever else is raised here, Sphinx takes for a crash and shows its traceback.
        _LOGGER.critical("A recording is damaged: %s", error)
        raise SystemExit(2) from None


def setup(app: Sphinx) -> None:
    """Take over before sphinx-gallery generates its pages."""
    # sphinx-gallery draws nothing, and the import is an eighth of an unchanged build.
    gen_gallery._import_matplotlib = lambda: (None, None)
    app.add_config_value("gpuguide_draft", "", "env", str)
    app.add_transform(WithoutLinks)
    # sphinx-gallery generates at the default priority, 500.
    app.connect("builder-inited", _begin, priority=20)
