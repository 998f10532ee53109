"""The roles ``measured`` and ``claimed``: numbers in prose that nobody typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxRole

from gpuguide.errors import GpuGuideError, unknown
from gpuguide_docs.show.references import parse_reference, resolve
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide.recordings.recording import Recording
    from gpuguide_docs.replay.states import PageState
    from gpuguide_docs.show.site import Site

__all__ = [
    "NOT_MEASURED",
    "ClaimedRole",
    "MeasuredRole",
    "ReportingRole",
    "RuleRole",
    "measured_number",
    "number_node",
    "setup",
    "unmeasured_number",
    "why_unmeasured",
]

NOT_MEASURED = "not measured yet"
#: Key under which Sphinx's notes on the document being read hold the GPUs that its present part needs.

_LONGEST_NUMBER = 40


class number_node(nodes.Inline, nodes.TextElement):  # noqa: N801 (docutils names its nodes so)
    """A number with what hover, focus or tap shows: attributes ``detail`` and ``tip`` (its identifier).

    Attribute ``key`` says where it comes from.
    """


class ReportingRole(SphinxRole):
    """A role that becomes one node, or an error that the next build meets again."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Give the node, or report why there is none."""
        try:
            node = self.node()
        except GpuGuideError as error:
            # Without this, a document that failed would count as read, and the next build would pass.
            self.env.note_reread()
            message = self.inliner.reporter.error(f"{self.name} {self.text!r}: {error}", line=self.lineno)
            wrong = self.inliner.problematic(self.rawtext, self.rawtext, message)
            return [wrong], [message]
        self.set_source_info(node)
        return [node], []

    def node(self) -> nodes.Node:
        """Make the node; GpuGuideError where there is nothing to show."""
        raise NotImplementedError


class _NumberRole(ReportingRole):
    """A role that becomes one number."""

    def node(self) -> nodes.Node:
        """Give the number with what hover, focus or tap shows."""
        return _node(self.env, self.text, self.number(site_of(self.env)), self.rawtext)

    def number(self, site: Site) -> tuple[str, str, str]:
        """Text, detail and class; GpuGuideError where there is none."""
        raise NotImplementedError


class MeasuredRole(_NumberRole):
    """``:measured:`page:study[variant, 2**24].time```: a number from a recording."""

    def number(self, site: Site) -> tuple[str, str, str]:
        """Look the reference up in the recording of its page, or of this page."""
        reference = parse_reference(self.text)
        here = site.page_of(self.env.docname)
        name = reference.page or (here.name if here else "")
        if not name:
            raise unknown("page", "", [page.name for page in site.pages])
        state = site.state(name, self.env)
        recording = site.recording(state)
        if recording is None:
            return NOT_MEASURED, why_unmeasured(state), "gg-unmeasured"
        number = resolve(reference, recording)
        return number.text, number.detail, "gg-measured"


class ClaimedRole(_NumberRole):
    """``:claimed:`s2_sort_speedup```: what a source document says."""

    def number(self, site: Site) -> tuple[str, str, str]:
        """Look the claim up in ``docs/claims.toml``."""
        self.env.note_dependency(str(site.layout.docs / "claims.toml"))
        if self.text not in site.claims:
            raise unknown("claim", self.text, site.claims)
        claim = site.claims[self.text]
        return claim.text, claim.detail, "gg-claimed"


class RuleRole(SphinxRole):
    """``:rule:`0.2 s```: a figure that is a rule of the method and not a measurement."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Give the text as it stands; the check for typed figures passes over it."""
        return [nodes.inline(self.rawtext, self.text, classes=["gg-rule"])], []


def measured_number(
    env: BuildEnvironment, key: str, recording: Recording, *, short: bool = False
) -> number_node:
    """Give the number that the role ``measured`` shows for a reference, to a directive that derives it."""
    number = resolve(parse_reference(key), recording)
    text = number.short if short else number.text
    return _node(env, key, (text, number.detail, "gg-measured"))


def _node(env: BuildEnvironment, key: str, number: tuple[str, str, str], raw: str = "") -> number_node:
    text, detail, kind = number
    # A number stays on one line, but not a fact of many words.
    classes = [kind, "gg-words"] if len(text) > _LONGEST_NUMBER else [kind]
    node = number_node(raw, text, classes=classes, detail=detail, key=key)
    node["tip"] = f"gg-tip-{env.new_serialno('gg-tip')}"
    return node


def unmeasured_number(env: BuildEnvironment, key: str, state: PageState) -> number_node:
    """Return what stands in for a number while its page has none."""
    return _node(env, key, (NOT_MEASURED, why_unmeasured(state), "gg-unmeasured"))


def why_unmeasured(state: PageState) -> str:
    """Say why a page's numbers cannot be shown."""
    if state.status == "pending":
        return f"waits for a GPU: {state.reason}"
    if state.status == "stale":
        return "the code changed since it was measured; the page waits to be measured again"
    return "this page was never measured"


def _visit_html(writer: Any, node: number_node) -> None:
    described = {"tabindex": "0", "aria-describedby": node["tip"]}
    writer.body.append(writer.starttag(node, "span", "", **described))


def _depart_html(writer: Any, node: number_node) -> None:
    detail = writer.encode(node["detail"])
    tip = f'<span class="gg-tip" role="tooltip" id="{node["tip"]}">{detail}</span>'
    writer.body.append(f"{tip}</span>")


def _pass(writer: Any, node: nodes.Node) -> None:
    """Other formats show the text alone."""


def setup(app: Sphinx) -> None:
    """Register the roles and how their numbers are written."""
    plain = (_pass, _pass)
    app.add_node(
        number_node, html=(_visit_html, _depart_html), latex=plain, text=plain, man=plain, texinfo=plain
    )
    app.add_role("measured", MeasuredRole())
    app.add_role("claimed", ClaimedRole())
    app.add_role("rule", RuleRole())
