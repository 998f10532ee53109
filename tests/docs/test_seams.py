"""sphinx-gallery is taken over where we think it is."""

import inspect

from sphinx_gallery import gen_rst

from gpuguide_docs.replay import seams


def test_no_seam_moved():
    assert seams.moved_seams() == []


def test_a_moved_seam_is_named(monkeypatch):
    monkeypatch.setitem(seams.SEAMS, "gen_rst.execute_script", ("blocks",))
    monkeypatch.setitem(seams.TEXTS, "NO_SUCH_TEXT", "")
    assert [line.split(":")[0] for line in seams.moved_seams()] == [
        "sphinx_gallery.gen_rst.execute_script",
        "sphinx_gallery.gen_rst.NO_SUCH_TEXT",
    ]


def test_what_the_replacements_rely_on_inside_the_caller_is_there():
    source = inspect.getsource(gen_rst.generate_file_rst)
    for needed in (
        'script_vars["memory_delta"]',
        "_get_backreferences(",
        "save_thumbnail(image_path_template, src_file",
    ):
        assert needed in source
    assert 'script_vars["example_globals"]' in inspect.getsource(gen_rst._get_backreferences)


def test_the_settings_run_no_script_even_without_the_seams(tmp_path):
    from mini_project import write_project

    from gpuguide_docs.pages.gallery_settings import gallery_conf

    conf = gallery_conf(write_project(tmp_path / "mini").layout)
    assert conf["plot_gallery"] is False
    assert conf["parallel"] is False
