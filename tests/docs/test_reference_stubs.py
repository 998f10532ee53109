"""Reference pages of what is no longer listed do not stay."""

from gpuguide_docs.layout import Layout
from gpuguide_docs.sweep import sweep_stubs


def test_only_stubs_that_the_reference_lists_stay(tmp_path):
    generated = tmp_path / "docs" / "api" / "generated"
    generated.mkdir(parents=True)
    (tmp_path / "docs" / "api" / "index.rst").write_text(
        "Reference\n=========\n\nThe old one.\n\n   Study\n   topics.sort\n"
    )
    for name in ("Study", "topics.sort", "old"):
        (generated / f"gpuguide.{name}.rst").touch()
    assert [path.name for path in sweep_stubs(Layout(tmp_path))] == ["gpuguide.old.rst"]
    assert len(list(generated.iterdir())) == 2
