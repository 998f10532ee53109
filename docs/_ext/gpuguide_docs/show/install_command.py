"""Directive ``install-command``: how to install the package from the wheel that the site itself serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["InstallCommandDirective", "pip_command", "setup", "wheel_path"]

_EXTRAS = ("", "cuda12", "cuda13")


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
        """Show it as a block to copy."""
        extra = self.arguments[0] if self.arguments else ""
        if extra not in _EXTRAS:
            raise self.error(f"install-command: {extra!r} is no extra; write cuda12, cuda13, or nothing")
        site_url = self.config.gpuguide_site_url
        command = f"$ {pip_command(site_url, extra)}"
        block = nodes.literal_block(command, command, language="console")
        self.set_source_info(block)
        return [block] if site_url else [self._download(), block]

    def _download(self) -> nodes.paragraph:
        """Link the wheel of the site that is being read, wherever it is served."""
        path = wheel_path()
        to_root = "../" * self.env.docname.count("/")
        link = nodes.reference("", "", nodes.literal("", path.rpartition("/")[2]), refuri=to_root + path)
        line = nodes.paragraph(classes=["gg-download-wheel"])
        line += [nodes.Text("Download "), link, nodes.Text(". In the folder that holds it, run:")]
        self.set_source_info(line)
        return line


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_config_value("gpuguide_site_url", "", "env", str)
    app.add_directive("install-command", InstallCommandDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
