"""Sphinx configuration of the miniature guide."""

from pathlib import Path

from gpuguide_docs.pages.gallery_settings import gallery_conf
from gpuguide_docs.pages.layout import Layout

project = "mini"
extensions = ["myst_nb", "sphinx_gallery.gen_gallery", "gpuguide_docs.extension"]
sphinx_gallery_conf = gallery_conf(Layout(Path(__file__).parent))
exclude_patterns = ["_build", "_ext", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/downloads"]
gpuguide_site_url = "https://guide.example"
gpuguide_notebook_repository = "somebody/guide"
html_theme = "basic"
html_copy_source = False
html_last_updated_fmt = None

# As in the guide's own conf.py.
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 60
nb_execution_show_tb = True
nb_output_stderr = "warn"
nb_merge_streams = True
