"""Directive ``install-command``: how to install the package from the wheel that the site itself serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["InstallCommandDirective", "pip_command", "setup", "wheel_path"]


def wheel_path() -> str:
    """Give the path of the wheel on the site."""
    return f"_static/wheels/gpuguide-{__version__}-py3-none-any.whl"


def pip_command(site_url: str, extra: str = "") -> str:
    """Write the command that installs the package."""
    bracket = f"[{extra}]" if extra else ""
    if site_url:
        return f'pip install "gpuguide{bracket} @ {site_url.rstrip("/")}/{wheel_path()}"'
    return f'pip install "./{wheel_path().rpartition("/")[2]}{bracket}"'


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


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_config_value("gpuguide_site_url", "", "env", str)
    app.add_directive("install-command", InstallCommandDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
