"""Builders share the documents that one of them read, and each page is written with what it shows now."""

from mini_project import Project

SHOWN = """# The study runs.
#
# .. kernel:: gpuguide.topics.toy.study
#    :names: sum_numpy
"""


def read_by_another_builder(project: Project) -> None:
    ran = project.build("-b", "dummy", out="dummy")
    assert ran.code == 0, ran.output


def test_a_kernel_that_another_builder_read_first_is_new_on_the_page(project):
    project.edit("examples/start/toy.py", "# The study runs.\n", SHOWN)
    ran = project.build()
    assert ran.code == 0, ran.output
    assert "Sum by NumPy." in project.page()
    # No page that stands on its own lines changed.
    project.edit("src/gpuguide/topics/toy/study.py", "Sum by NumPy.", "Sum by the library.")
    read_by_another_builder(project)
    assert project.build().code == 0
    assert "Sum by the library." in project.page()


def test_pages_are_read_again_by_a_changed_extension(built_template):
    project = built_template.restored()
    project.edit("docs/_ext/gpuguide_docs/show/card.py", '"details"', '"all details"')
    ran = project.build()
    assert ran.code == 0, ran.output
    assert "all details" in project.page()


def test_a_title_that_another_builder_read_first_changes_on_other_pages_too(built_template):
    project = built_template.restored()
    assert 'title="Other"' in project.page("pictures", "later")
    project.edit("docs/other.rst", "Other\n=====", "Elsewhere\n=========")
    read_by_another_builder(project)
    assert project.build().code == 0
    assert 'title="Elsewhere"' in project.page("pictures", "later")
