"""The site: its pages, the state of each recording, and ``install-command``, how to install its wheel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError, unknown
from gpuguide.version import __version__
from gpuguide_docs.pages.layout import Layout, layout_of
from gpuguide_docs.pages.pages_toml import Page, read_pages
from gpuguide_docs.record.execution import CellError
from gpuguide_docs.replay.drawn_cells import drawing_of
from gpuguide_docs.replay.outputs import Drawing
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.replay.uses import note_use
from gpuguide_docs.show.guide import states_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

    from gpuguide.recordings.recording import Recording

__all__ = [
    "InstallCommandDirective",
    "Site",
    "colab_link",
    "link_to",
    "pip_command",
    "setup",
    "site_of",
    "wheel_path",
]

_SITES: WeakKeyDictionary[BuildEnvironment, Site] = WeakKeyDictionary()


class Site:
    """Pages and recordings of one project; everything is read once."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """The pages in teaching order."""
        return read_pages(self.layout)

    def page(self, name: str) -> Page:
        """Find a page by its name."""
        for page in self.pages:
            if page.name == name:
                return page
        raise unknown("page", name, [page.name for page in self.pages])

    def page_of(self, docname: str) -> Page | None:
        """Find the page that a Sphinx document shows."""
        return next((page for page in self.pages if page.docname == docname), None)

    def state(self, name: str, env: BuildEnvironment | None = None) -> PageState:
        """How a page's recording stands."""
        state = states_of(self.layout)[self.page(name).name]
        if env is not None:
            note_use(env, self.layout, name)
        return state

    def drawing(self, state: PageState) -> Drawing:
        """Give what the drawn cells of a page come to."""
        try:
            return drawing_of(states_of(self.layout), state)
        except CellError as error:
            raise GpuGuideError(f"drawing failed, {error}") from error

    def recording(self, state: PageState) -> Recording | None:
        """Give the recording that may be shown, with the facts that the page's drawn cells state."""
        if state.shown is None:
            return None
        return replace(state.shown, facts={**state.shown.facts, **self.drawing(state).stated.facts})


def link_to(
    docname: str, kind: str, target: str, words: str, *, classes: Iterable[str] = ()
) -> addnodes.pending_xref:
    """Link from a document as the role ``doc``, ``ref`` or ``term`` does."""
    return addnodes.pending_xref(
        "",
        nodes.inline(words, words, classes=[*classes]),
        refdomain="std",
        reftype=kind,
        reftarget=target,
        refexplicit=True,
        refwarn=True,
        refdoc=docname,
    )


def site_of(env: BuildEnvironment) -> Site:
    """Site of the project that Sphinx builds."""
    return _SITES[env]


def wheel_path() -> str:
    """Give the path of the wheel on the site."""
    return f"_static/wheels/gpuguide-{__version__}-py3-none-any.whl"


def pip_command(site_url: str, extra: str = "") -> str:
    """Write the command that installs the package."""
    bracket = f"[{extra}]" if extra else ""
    if site_url:
        return f'pip install "gpuguide{bracket} @ {site_url.rstrip("/")}/{wheel_path()}"'
    return f'pip install "./{wheel_path().rpartition("/")[2]}{bracket}"'


def colab_link(config: Config, page: Page) -> str:
    """Give the address that opens a page's notebook on Colab; empty where Colab cannot reach it or run it.

    Colab opens what lies in a repository on GitHub, and no other address. Its machines have one GPU.
    """
    repository = config.gpuguide_notebook_repository
    if not (config.gpuguide_site_url and repository) or page.needs.gpus > 1:
        return ""
    return f"https://colab.research.google.com/github/{repository}/blob/notebooks/{page.notebook}"


class InstallCommandDirective(SphinxDirective):
    """``.. install-command::`` shows the command; its argument is the extra, ``cuda12`` or ``cuda13``."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Show it as a block to copy, below a link to the wheel of the site that is being read."""
        site_url = self.config.gpuguide_site_url
        command = f"$ {pip_command(site_url, *self.arguments)}"
        block = nodes.literal_block(command, command, language="console")
        self.set_source_info(block)
        if site_url:
            return [block]
        wheel = wheel_path()
        name = nodes.literal("", wheel.rpartition("/")[2])
        link = nodes.reference("", "", name, refuri="../" * self.env.docname.count("/") + wheel)
        line = nodes.paragraph(classes=["gg-download-wheel"])
        line += [nodes.Text("Download "), link, nodes.Text(". In the folder that holds it, run:")]
        return [line, block]


def _remember(app: Sphinx) -> None:
    _SITES[app.env] = Site(layout_of(app))


def setup(app: Sphinx) -> None:
    """Make the project known before anything is generated or read, and register the directive."""
    # The project's root; by default the folder of conf.py.
    app.add_config_value("gpuguide_root", "", "env", str)
    app.connect("builder-inited", _remember, priority=100)
    app.add_config_value("gpuguide_site_url", "", "env", str)
    app.add_config_value("gpuguide_notebook_repository", "", "env", str)
    app.add_directive("install-command", InstallCommandDirective)
