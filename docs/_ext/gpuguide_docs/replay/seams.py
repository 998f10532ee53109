"""Where sphinx-gallery is taken over: pages are replayed, not run. A test fails when a seam has moved."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ConfigError, ExtensionError
from sphinx.util import logging
from sphinx_gallery import gen_gallery, gen_rst

from gpuguide_docs.pages.cells import Block
from gpuguide_docs.pages.layout import layout_of
from gpuguide_docs.pages.pages_toml import read_sections
from gpuguide_docs.replay.drawn_cells import draw_ahead
from gpuguide_docs.replay.figures import PLAIN_THUMBNAIL, shown_drawing, write_thumbnail
from gpuguide_docs.replay.outputs import Output, read_outputs
from gpuguide_docs.replay.replay import ReplayedPage, replay
from gpuguide_docs.replay.states import PageState, States, states_of_build

if TYPE_CHECKING:
    from sphinx.application import Sphinx

logger = logging.getLogger(__name__)

__all__ = ["SEAMS", "TEXTS", "Gallery", "moved_seams", "setup"]

#: Function of sphinx-gallery -> its parameters, as the replacements below rely on them.
SEAMS = {
    "gen_rst.execute_script": ("script_blocks", "script_vars", "gallery_conf", "file_conf"),
    "gen_rst.save_thumbnail": (
        "image_path_template",
        "src_file",
        "script_vars",
        "file_conf",
        "gallery_conf",
    ),
    "gen_rst.identify_names": ("script_blocks", "ref_regex", "global_variables", "node"),
    "gen_rst.zip_files": ("file_list", "zipname", "relative_to", "extension"),
    "gen_rst._get_gallery_header": ("dir_", "gallery_conf", "raise_error"),
    "gen_gallery.get_subsections": ("srcdir", "examples_dir", "gallery_conf", "check_for_header"),
    "gen_gallery._import_matplotlib": (),
}

#: Text of sphinx-gallery -> ours: of the header only the label is left, downloads are made elsewhere.
TEXTS = {
    "EXAMPLE_HEADER": "\n..\n   Written by the build: edit the script.\n\n.. _sphx_glr_{1}:\n\n",
    "DOWNLOAD_LINKS_HEADER": "",
    "CODE_DOWNLOAD": "",
    "NOTEBOOK_DOWNLOAD": "",
    "ZIP_DOWNLOAD": "",
    "TIMING_CONTENT": "",
}

_MODULES = {"gen_rst": gen_rst, "gen_gallery": gen_gallery}
_ORIGINAL_IDENTIFY = gen_rst.identify_names


def moved_seams() -> list[str]:
    """Compare the installed sphinx-gallery with what the replacements rely on."""
    moved = []
    for name, expected in SEAMS.items():
        module, _, attribute = name.partition(".")
        function = getattr(_MODULES[module], attribute, None)
        found = tuple(inspect.signature(function).parameters) if callable(function) else None
        if found != expected:
            moved.append(f"sphinx_gallery.{name}: parameters {expected} expected, found {found}")
    for name in TEXTS:
        if not isinstance(getattr(gen_rst, name, None), str):
            moved.append(f"sphinx_gallery.gen_rst.{name}: a text expected")
    return moved


class Gallery:
    """Stands in for sphinx-gallery's execution during one build."""

    def __init__(self, states: States, draft: tuple[Output | None, ...] | None = None) -> None:
        self.states = states
        self.draft = draft
        self.kept: set[Path] = set()

    def install(self) -> None:
        """Put the replacements in place of sphinx-gallery's functions and texts."""
        for name, value in TEXTS.items():
            setattr(gen_rst, name, value)
        replacements: dict[str, Callable[..., Any]] = {
            "execute_script": self.execute_script,
            "save_thumbnail": self.save_thumbnail,
            "identify_names": self.identify_names,
            "zip_files": _no_zip,
            "_get_gallery_header": _no_header,
            "get_subsections": self.sections,
            "_import_matplotlib": _no_matplotlib,
        }
        # Replaced in the module that calls it, since sphinx-gallery imports functions by name.
        for name in SEAMS:
            module, _, attribute = name.partition(".")
            setattr(_MODULES[module], attribute, replacements[attribute])

    def execute_script(
        self, script_blocks: list[Any], script_vars: dict[str, Any], _conf: object, _file_conf: object
    ) -> tuple[list[str], float]:
        """Replay a page: change its blocks in place, all into text. No outputs are left, and no time."""
        script = Path(script_vars["src_file"])
        blocks = [Block(*block) for block in script_blocks]
        page = replay(self.states, _state(self.states, script), script, blocks, self.draft)
        script_blocks[:] = page.blocks
        self.kept.update(page.figures)
        script_vars["example_globals"] = _Replayed(page)
        # sphinx-gallery reads it once the script should have run.
        script_vars["memory_delta"] = 0.0
        return [""] * len(script_blocks), 0.0

    def save_thumbnail(
        self,
        image_path_template: str,
        src_file: str,
        script_vars: dict[str, Any],
        file_conf: dict[str, Any],
        _conf: object,
    ) -> None:
        """Write the thumbnail: the page's drawing, else a chart as it is drawn for phones.

        The chart is the first, or the one that ``thumbnail_number`` names.
        """
        script, docs = Path(src_file), self.states.layout.docs
        drawing = shown_drawing(script.read_text(encoding="utf-8"), docs)
        if drawing:
            twins = [docs / "_static" / "drawings" / f"{drawing}{end}.svg" for end in ("", "-dark")]
            light, dark = (path.read_bytes() for path in twins)
        else:
            pictures = script_vars["example_globals"].page.pictures
            number = int(file_conf.get("thumbnail_number", 1))
            known = abs(number) <= len(pictures)
            picture = pictures[number - 1 if number > 0 else number] if known else None
            # Without a chart the plain one, so that a page never keeps a figure of other code.
            light = (picture.narrow or picture.data) if picture else PLAIN_THUMBNAIL
            dark = self.states.guide.dark(light) if picture else PLAIN_THUMBNAIL
        folder = Path(image_path_template).parent / "thumb"
        self.kept.update(write_thumbnail(folder, script.stem, light, dark))

    def identify_names(
        self, script_blocks: list[Any], ref_regex: str, global_variables: Any = None, _node: Any = ""
    ) -> dict[str, list[dict[str, Any]]]:
        """Give the names that the page replayed, and those that its text refers to."""
        text = [block for block in script_blocks if block.type == "text"]
        # Those in the code were resolved while the page was recorded.
        explicit: dict[str, list[dict[str, Any]]] = _ORIGINAL_IDENTIFY(text, ref_regex, None, None)
        names = {name: list(found) for name, found in global_variables.page.names.items()}
        for name, found in explicit.items():
            names.setdefault(name, []).extend(found)
        return names

    def sections(
        self, _srcdir: object, examples_dir: str, _conf: object, check_for_header: bool = True
    ) -> list[str]:
        """Give the folders of scripts in the order of ``pages.toml``."""
        names = [section.name for section in read_sections(self.states.layout)]
        folders = [path for path in sorted(Path(examples_dir).iterdir()) if path.is_dir()]
        for folder in folders:
            if folder.name not in names and any(folder.glob("*.py")):
                raise ExtensionError(f"{folder}: this section is not in examples/pages.toml; add it there")
        return sorted((path.name for path in folders if path.name in names), key=names.index)


class _Replayed(dict[str, Any]):
    """Travels through sphinx-gallery in the place of a script's variables; it holds none."""

    def __init__(self, page: ReplayedPage) -> None:
        super().__init__()
        self.page = page


def _no_header(_dir: object, _conf: object, raise_error: bool = True) -> None:
    # sphinx-gallery then writes no index; `section_index` does, because not all pages are scripts.
    return None


def _no_zip(_files: object, zipname: object, _relative_to: object, _extension: object = None) -> str:
    return str(zipname)


def _no_matplotlib() -> tuple[None, None]:
    # Nothing is drawn by sphinx-gallery, and an unchanged build need not pay for the import.
    return None, None


def _check(app: Sphinx) -> None:
    conf = app.config.sphinx_gallery_conf
    if conf["parallel"]:
        raise ConfigError("sphinx_gallery_conf['parallel'] must be False: its workers would run the scripts")
    if Path(app.srcdir).resolve() != layout_of(app).docs:
        raise ConfigError(f"Sphinx's source folder must be {layout_of(app).docs}, and is {app.srcdir}")


def _state(states: States, script: Path) -> PageState:
    """Give the state of a page; what keeps it from having one is told in Sphinx's words."""
    from gpuguide.errors import RecordingError

    try:
        return states[script.stem]
    except KeyError:
        raise ExtensionError(
            f"{script}: this page is not in examples/pages.toml; add an entry there or delete it"
        ) from None
    except RecordingError as error:
        raise ExtensionError(f"The recording of page {script.stem!r} is damaged: {error}") from None


def _stop_if_damaged(states: States) -> None:
    """End the build with a line for each damaged recording, before any other process is started.

    Whatever is raised here, or in such a process, Sphinx takes for a crash and shows its traceback.
    """
    from gpuguide.errors import RecordingError

    damaged: dict[str, str] = {}
    for page in states.pages.values():
        try:
            _ = states[page.name] if page.script(states.layout).is_file() else None
        except RecordingError as error:
            damaged.setdefault(str(error), page.name)
    for words, name in damaged.items():
        logger.critical("The recording of page %r is damaged: %s", name, words)
    if damaged:
        raise SystemExit(2)


def _begin(app: Sphinx) -> None:
    """Take sphinx-gallery over for this build."""
    _check(app)
    states = states_of_build(app)
    draft = app.config.gpuguide_draft
    gallery = Gallery(states, read_outputs(Path(draft)) if draft else None)
    gallery.install()
    if not draft:
        _stop_if_damaged(states)
        draw_ahead(states, app.parallel)
    app.gpuguide_gallery = gallery  # type: ignore[attr-defined]


def setup(app: Sphinx) -> None:
    """Take over before sphinx-gallery generates its pages."""
    # A method in its place shows that an earlier build of this process took over already.
    moved = moved_seams() if not getattr(gen_rst.execute_script, "__self__", None) else []
    if moved:
        raise ExtensionError("sphinx-gallery changed where the guide takes over:\n  " + "\n  ".join(moved))
    # Already here: sphinx-gallery imports Matplotlib when it reads its configuration, before `_begin`.
    gen_gallery._import_matplotlib = _no_matplotlib
    app.add_config_value("gpuguide_draft", "", "env", str)
    # sphinx-gallery generates at the default priority, 500.
    app.connect("builder-inited", _begin, priority=20)
