"""A page without running it: recorded cells from the transcript, drawn cells from the recorded results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError

from gpuguide_docs.pages.cells import DRAW, Block, Cell, cells_from_blocks
from gpuguide_docs.record.execution import CellError
from gpuguide_docs.record.names import CodeName, page_names
from gpuguide_docs.replay.drawn_cells import draw
from gpuguide_docs.replay.figures import FigureFolder
from gpuguide_docs.replay.outputs import (
    Drawing,
    Output,
    Picture,
    admonition,
    cell_directive,
    literal,
    raw_html,
)
from gpuguide_docs.replay.states import PageState, States

if TYPE_CHECKING:
    from gpuguide.recordings.recording import CellOutput, Recording

__all__ = ["ReplayedPage", "cell_block", "replay"]

_NOT_DRAWN = "What this code draws and claims appears once the page is measured."
#: Titles of drawn cells that are folded and name none.
_CHART, _STATED = "Code of the chart", "What is claimed of these results"
_DRAFT = admonition(
    "Draft, simulator",
    ("Toy sizes in Numba's simulator, on a CPU: no figure and no number here says anything about a GPU.",),
    "warning page-draft",
)


@dataclass(frozen=True)
class ReplayedPage:
    """A page ready for sphinx-gallery: all its blocks are text, of which cells of code are a directive."""

    blocks: tuple[Block, ...]
    names: dict[str, list[dict[str, Any]]]
    pictures: tuple[Picture, ...]
    thumbnail: Picture | None = None


def replay(
    states: States,
    state: PageState,
    script: Path,
    blocks: Sequence[tuple[str, str, int]],
    draft: Sequence[Output | None] | None = None,
) -> ReplayedPage:
    """Make a page from its script and what was recorded; nothing recorded is executed."""
    cells = cells_from_blocks(blocks, script)
    layout = states.layout
    images = layout.gallery / script.parent.name / "images"
    folder = FigureFolder(layout.docs, images, state.page, states.guide.dark)
    drawing, outputs = Drawing(), tuple(draft or ())
    if draft is None:
        drawing = _draw(states, state, script, cells)
        outputs = _outputs(state, cells, drawing)
    stored: tuple[CodeName, ...] = ()
    results: tuple[str, ...] = ()
    if state.shown is not None:
        stored = tuple(_code_name(name) for cell in state.shown.cells for name in cell.names)
        results = tuple(state.shown.names)
    first, *rest = (
        Block("text", _shown(cell, output, folder) if cell.is_code else cell.content, cell.lineno)
        for cell, output in zip(cells, outputs, strict=True)
        if not cell.is_thumbnail
    )
    above = _DRAFT if draft is not None else _banner(state)
    first = first._replace(content=f"{first.content.rstrip()}\n\n{above}")
    return ReplayedPage(
        (first, *rest),
        page_names((cell.content for cell in cells if cell.is_code), stored, results),
        tuple(folder.pictures),
        _thumbnail(cells, outputs),
    )


def _thumbnail(cells: Sequence[Cell], outputs: Sequence[Output | None]) -> Picture | None:
    """Give what the page's thumbnail cell drew."""
    drawn = (output for cell, output in zip(cells, outputs, strict=True) if cell.is_thumbnail and output)
    return next((picture for output in drawn for picture in output.pictures), None)


def _draw(states: States, state: PageState, script: Path, cells: Sequence[Cell]) -> Drawing:
    if state.shown is None:
        return Drawing()
    drawn = tuple(cell for cell in cells if cell.kind == "drawn")
    try:
        return draw(states, state.page, drawn, state.shown, state.digest, script)
    except CellError as error:
        raise ExtensionError(f"Drawing failed, {error}") from error


def _outputs(state: PageState, cells: Sequence[Cell], drawing: Drawing) -> tuple[Output | None, ...]:
    if state.shown is None:
        return (None,) * len(cells)
    recorded = {output.cell: output for output in state.shown.cells}
    found: list[Output | None] = []
    for cell in cells:
        if cell.kind == "drawn":
            found.append(drawing.outputs[cell.index])
        elif cell.kind == "recorded" and cell.index in recorded:
            found.append(_from_transcript(recorded[cell.index], state.shown))
        else:
            found.append(None)
    return tuple(found)


def _from_transcript(cell: CellOutput, recording: Recording) -> Output:
    html = recording.studies[cell.shows]._repr_html_() if cell.shows else ""
    return Output(cell.stdout, cell.study.html() if cell.study else html)


def _code_name(stored: Sequence[Any]) -> CodeName:
    used, module, name, short, is_class = stored
    return CodeName(used, module, name, short, is_class in (True, "True", "class"))


def _shown(cell: Cell, output: Output | None, folder: FigureFolder) -> str:
    if output is not None:
        rst = "".join(folder.add(picture) for picture in output.pictures)
        rst += literal(output.stdout) + raw_html(output.html)
    else:
        rst = f".. container:: not-measured\n\n   {_NOT_DRAWN}\n\n" if cell.kind == "drawn" else ""
    # What shows neither chart nor table states claims or facts.
    states = output is not None and not (output.pictures or output.html)
    return cell_block(cell, rst, states=states)


def cell_block(cell: Cell, output: str, *, states: bool = False) -> str:
    """Write a cell of code, with the reST of what it put out, as the page shows it."""
    code, options = cell.body, ["wrong:"] if cell.is_wrong else []
    if cell.kind == "drawn":
        code = "\n".join(line for line in code.split("\n") if not line.strip().startswith(DRAW))
        options.append(f"fold: {cell.title or (_STATED if states else _CHART)}")
        options.append("at-end:" if states else "code-only:")
    elif cell.place != "open":
        options.append(f"fold: {cell.title}")
        options += {"end": ["at-end:"], "output": ["code-only:"]}.get(cell.place, [])
    return cell_directive(code, output, options)


def _banner(state: PageState) -> str:
    if state.status == "current":
        return ""
    if state.status == "stale":
        return admonition(
            "Not measured since its code changed",
            (
                f"What changed: {state.changed_words}. Outputs, charts and numbers of this page appear again "
                "once it is recorded on a GPU.",
            ),
            "warning page-stale",
        )
    reason = (f"Why it waits: {state.reason}",) if state.reason else ()
    return admonition(
        "Not measured yet",
        (
            "The code below has not been recorded on a GPU yet; then outputs, charts and numbers appear.",
            *reason,
        ),
        "warning page-unmeasured",
    )
