"""sphinx-gallery is taken over where we think it is."""

import inspect

import pytest
from sphinx_gallery import gen_gallery, gen_rst

PINNED = {
    "gen_rst.execute_script": ["script_blocks", "script_vars", "gallery_conf", "file_conf"],
    "gen_rst.identify_names": ["script_blocks", "ref_regex", "global_variables", "node"],
    "gen_rst._get_gallery_header": ["dir_", "gallery_conf", "raise_error"],
    "gen_gallery._import_matplotlib": [],
}


@pytest.mark.parametrize("name", PINNED)
def test_no_seam_moved(name):
    module, function = name.split(".")
    found = getattr({"gen_rst": gen_rst, "gen_gallery": gen_gallery}[module], function)
    assert list(inspect.signature(found).parameters) == PINNED[name]


def test_what_the_replacements_rely_on_inside_the_caller_is_there():
    source = inspect.getsource(gen_rst.generate_file_rst)
    assert source.index("= execute_script(") < source.index('script_vars["memory_delta"]')
    assert "_get_backreferences(" in source
    assert 'script_vars["example_globals"]' in inspect.getsource(gen_rst._get_backreferences)


def test_the_settings_run_no_script_even_without_the_seams(tmp_path):
    from mini_project import write_project

    from gpuguide_docs.pages.gallery_settings import gallery_conf

    conf = gallery_conf(write_project(tmp_path / "mini").layout)
    assert conf["plot_gallery"] is False
    assert conf["parallel"] is False
