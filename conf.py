"""The one Sphinx configuration. Its paths begin in this folder, so that two clones build the same bytes."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT / "src")]

from gpuguide.version import __version__  # noqa: E402
from gpuguide_docs.pages.gallery_settings import gallery_conf  # noqa: E402
from gpuguide_docs.pages.layout import Layout  # noqa: E402

LAYOUT = Layout(ROOT)

project = "gpuguide"
author = "the gpuguide developers"
project_copyright = "2026, the gpuguide developers"
release = __version__
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.ifconfig",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "gpuguide_docs.extension",
]

root_doc = "index"
language = "en"
nitpicky = True
# Sphinx looks from this folder, its autosummary from the folder of the pages.
templates_path = ["docs/_templates", "_templates"]
exclude_patterns = [
    "_build",
    "_templates",
    # The notebooks to download: myst-nb would take them for pages, and run them.
    "gallery/**/*.ipynb",
]
suppress_warnings = ["config.cache"]

# Pages written by hand --------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline", "substitution"]
myst_heading_anchors = 3
# Only a page that says `file_format: mystnb` has live cells. Sphinx reads it when it or the package changed,
# and then all of them run; myst-nb's own cache would not notice a change of the package.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 60
nb_execution_show_tb = True
# Nothing that a cell writes there is meant for readers; a build under -W fails.
nb_output_stderr = "warn"
# What a cell prints may arrive in pieces.
nb_merge_streams = True

# Reference ---------------------------------------------------------------------------------------------
autosummary_generate = ["api/index"]
# The sections of the docstrings name the types, so signatures need not say them again.
autodoc_typehints = "none"
# The package has no such comments, and looking for them in every source takes time.
autodoc_use_type_comments = False
# Defaults as the source writes them: a path or a module would be printed with the folder of the build.
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
# Autodoc lists members already.
numpydoc_show_class_members = False

# Gallery -----------------------------------------------------------------------------------------------
sphinx_gallery_conf = gallery_conf(LAYOUT)

# Where the site is served, such as "https://guide.example.org". Downloads install from there and link there.
# Nothing else names an address of the guide: while this is empty none is shown.
gpuguide_site_url = ""
# The repository on GitHub ("owner/name") whose branch `notebooks` holds the notebooks: Colab opens none from
# a site. With this and the address above, "open in Colab" stands beside "notebook".
gpuguide_notebook_repository = ""
# Whether the site and its notebooks hold the solutions of the exercises.
gpuguide_solutions = True

# Where Pyodide's files are: Python as WebAssembly, with which pages check kernels themselves. `make html`
# fetches them where it can; without them pages name the commands alone.
_PYODIDE = ".cache/pyodide/package"
gpuguide_python = _PYODIDE if (ROOT / _PYODIDE / "pyodide.mjs").is_file() else ""

# Look --------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "gpuguide"
html_static_path = ["docs/_static"]
html_css_files = ["gpuguide.css"]
# A page is whole without its script, and need not wait for it.
html_js_files = [("gpuguide.js", {"defer": "defer"})]
html_favicon = "docs/_static/favicon.svg"
# The search finds pages before the reference.
html_search_scorer = "docs/_templates/search_scorer.js"
html_show_sourcelink = False
# Nothing links to an index of names: the search and the list of the reference find them.
html_use_index = False
html_domain_indices = False
html_copy_source = False
html_last_updated_fmt = None
html_theme_options = {
    "logo": {"text": "gpuguide", "image_light": "_static/logo.svg", "image_dark": "_static/logo-dark.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 1,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}
html_sidebars = {
    "index": [],
    "cheat_sheet": [],
    "glossary": [],
    "symptoms": [],
    "method": [],
    "results": [],
    "look_into_a_recording": [],
    "your_gpu": [],
    "practice/puzzles": [],
    "teach": [],
}
# Readers paste what they copy, and a prompt is no code.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
# Code shown as a mistake is not for copying.
copybutton_selector = "div.highlight:not(.gg-wrong-fold div.highlight) > pre"
