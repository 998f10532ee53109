"""Charts in text: ``drawn``, one chart, and ``choices``, of which buttons show one at a time."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError
from gpuguide_docs.pages.cells import Cell
from gpuguide_docs.record.execution import CellError
from gpuguide_docs.replay.drawn_cells import draw
from gpuguide_docs.show.cells import cell_node, fold
from gpuguide_docs.show.guide import states_of
from gpuguide_docs.show.pictures import twins
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide_docs.replay.outputs import Output, Picture

__all__ = ["ChoiceDirective", "ChoicesDirective", "DrawnDirective", "choices_box", "setup"]

_CODE = "Code of the chart"
#: Between the answers that make up the label of a choice.
_AND = "|"


class choice_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """A choice as it is read: ``label``, ``code`` and ``line``; `ChoicesDirective` draws it."""


class _DrawingDirective(SphinxDirective):
    """A directive that draws from the current recording of the page that its argument names."""

    required_arguments = 1
    has_content = True

    def drawn(self, codes: list[tuple[str, int]]) -> list[list[nodes.Node]]:
        """Draw each piece of code, given with its line; nothing if the page has no current recording."""
        site, name = site_of(self.env), self.arguments[0]
        states = states_of(site.layout)
        try:
            state = site.state(name, self.env)
            recording = site.recording(state)
        except GpuGuideError as error:
            raise self.error(f"{self.name}: {error}") from None
        # The page is read again for a change of its source alone, and this code draws it.
        for path in states.drawing_code:
            self.env.note_dependency(path)
        if recording is None:
            return []
        cells = tuple(Cell("drawn", i, code, line) for i, (code, line) in enumerate(codes))
        serial = self.env.new_serialno("gpuguide-drawn")
        label = f"{self.env.docname.replace('/', '-')}-{serial + 1}"
        source = Path(self.get_source_info()[0])
        try:
            digest = f"{state.digest} {site.drawing(state).fingerprint}"
            drawing = draw(states, label, cells, recording, digest, source)
        except CellError as error:
            raise self.error(f"{self.name}: {error}") from error
        stems = [label, *(f"{label}-{i}" for i in range(1, len(cells)))]
        return [self._charts(stem, output) for stem, output in zip(stems, drawing.outputs, strict=True)]

    def _charts(self, stem: str, output: Output | None) -> list[nodes.Node]:
        pictures = output.pictures if output else ()
        return [self._chart(f"{stem}-{i}", picture) for i, picture in enumerate(pictures)]

    def _chart(self, stem: str, picture: Picture) -> nodes.container:
        layout = site_of(self.env).layout
        wide = ["gg-wide"] if picture.narrow else []
        images = twins(layout, stem, picture.data, picture.alt, *wide)
        if picture.narrow:
            images += twins(layout, f"{stem}-narrow", picture.narrow, picture.alt, "gg-narrow")
        return nodes.container("", *images, classes=["gg-chart"])

    def shown(self, charts: list[nodes.Node], codes: list[str]) -> list[nodes.Node]:
        """Give what the page shows: the charts, and on a page with a card the code, which goes there."""
        page = site_of(self.env).page_of(self.env.docname)
        if not charts:
            note = nodes.paragraph("", f"This chart appears once the page {self.arguments[0]} is measured.")
            return [nodes.container("", note, classes=["not-measured"])]
        if page is None or page.format != "script":
            return charts
        blocks = [nodes.literal_block(code, code, language="python") for code in codes]
        folded = fold(_CODE, nodes.container("", *blocks), classes=("gg-cell",))
        folded["code_only"] = folded["at_end"] = True
        return [cell_node("", *charts, folded, wrong=False)]


class DrawnDirective(_DrawingDirective):
    """``.. drawn:: PAGE`` with code like that of a drawn cell, which sees the results of that page.

    The figures are drawn at every build from the page's current recording; if there is none, a note stands in
    their place.
    """

    def run(self) -> list[nodes.Node]:
        """Draw, or say why there is nothing to draw."""
        code = "\n".join(self.content)
        charts = [chart for shown in self.drawn([(code, self.content_offset + 1)]) for chart in shown]
        return self.shown(charts, [code])


class ChoiceDirective(SphinxDirective):
    """``.. choice:: LABEL`` with the code that draws it; of several questions, ``LABEL | LABEL``."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Hand it to the directive around it."""
        code = "\n".join(self.content)
        return [choice_node("", label=self.arguments[0], code=code, line=self.content_offset + 1)]


class ChoicesDirective(_DrawingDirective):
    """``.. choices:: PAGE`` holds a ``choice`` for each answer, and buttons that show one chart at a time.

    The option ``of`` names the question that the buttons answer. Two questions, divided by ``|``, have a row
    of buttons each, and a choice for each pair of answers. Without JavaScript the first choice stands.
    """

    option_spec: ClassVar = {"of": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Draw all of them."""
        choices = [node for node in self.parse_content_to_nodes() if isinstance(node, choice_node)]
        questions = _parts(self.options.get("of", ""))
        labels = [_parts(choice["label"]) for choice in choices]
        answers = [list(dict.fromkeys(column)) for column in zip(*labels, strict=False)]
        is_whole = sorted(labels) == sorted(map(list, product(*answers)))
        if not questions or len(answers) != len(questions) or not is_whole:
            raise self.error(
                "choices: expected the option 'of' with a question, and below it a '.. choice:: LABEL' for "
                f"each answer (of two questions, one for each pair); got of={questions}, choices {labels}"
            )
        drawn = self.drawn([(choice["code"], choice["line"]) for choice in choices])
        boxes: list[nodes.Node] = [choices_box(self.env, questions, labels, drawn)] if drawn else []
        return self.shown(boxes, [choice["code"] for choice in choices])


def choices_box(
    env: BuildEnvironment, questions: list[str], labels: list[list[str]], panels: Iterable[list[nodes.Node]]
) -> nodes.container:
    """Show one panel at a time, the first at first, with buttons; a label has an answer to each question."""
    answers = [list(dict.fromkeys(column)) for column in zip(*labels, strict=True)]
    serial = env.new_serialno("gpuguide-choices")
    box = nodes.container("", classes=["gg-choices"])
    box += nodes.raw("", _buttons(serial, questions, answers, labels[0]), format="html")
    for label, parts in zip(labels, panels, strict=True):
        places = (str(column.index(part)) for column, part in zip(answers, label, strict=True))
        shown = [] if len(box) > 1 else ["gg-shown"]
        classes = ["gg-choice", f"gg-choice-{'-'.join(places)}", *shown]
        box += nodes.container("", *parts, classes=classes)
    return box


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(_AND) if part.strip()]


def _buttons(serial: int, questions: list[str], answers: list[list[str]], first: list[str]) -> str:
    """Write the rows of buttons, hidden until the script of the site shows them."""
    rows = []
    for row, (question, labels) in enumerate(zip(questions, answers, strict=True)):
        buttons = (
            f'<label><input type="radio" name="gg-choices-{serial}-{row}" value="{at}"'
            f"{' checked' if label == first[row] else ''}> {escape(label)}</label>"
            for at, label in enumerate(labels)
        )
        rows.append(f"<fieldset hidden><legend>{escape(question)}</legend>{''.join(buttons)}</fieldset>")
    return "".join(rows)


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("drawn", DrawnDirective)
    app.add_directive("choices", ChoicesDirective)
    app.add_directive("choice", ChoiceDirective)
