"""``make check``: a builder over the documents that ``make html`` reads, too."""

from mini_project import Project

from gpuguide_docs.contract.builder import BROKEN

SHOWN = """# The study runs.
#
# .. kernel:: gpuguide.topics.toy.study
#    :names: sum_numpy
"""


def check(project: Project, *options: str):
    return project.build("-b", "contract", *options, out="contract")


def test_a_broken_contract_is_told_and_is_not_forgotten_by_the_next_build(project):
    """The builders share what they read, and each page is written with what it shows now."""
    project.edit("examples/start/toy.py", "# The study runs.\n", SHOWN)
    ran = check(project)
    assert ran.code == BROKEN, ran.output
    assert "toy: C3: no section has an exercise" in ran.output
    assert "variant 'dot' is charted, and nothing on the page opens its code" in ran.output
    assert "'numpy' is charted, and nothing" not in ran.output
    assert "2 pages, " in ran.output
    ran = project.build()
    assert ran.code == 0, ran.output
    assert "Sum by NumPy." in project.page()
    # No page that stands on its own lines changed, so it is the check that reads this one again.
    project.edit("src/gpuguide/topics/toy/study.py", "Sum by NumPy.", "Sum by the library.")
    assert check(project).code == BROKEN
    assert project.build().code == 0
    assert "Sum by the library." in project.page()


def test_what_sphinx_cannot_read_is_no_mere_violation(project):
    project.edit("examples/start/toy.py", "# The study runs.\n", "# The :measured:`stdy` runs.\n")
    ran = check(project)
    assert ran.code == 1
    assert "toy.rst:" in ran.output
    assert "toy: numbers: line 22: Unknown fact or study 'stdy'" in ran.output


def test_pages_are_read_again_by_a_changed_extension(built_template):
    project = built_template.restored()
    project.edit("docs/_ext/gpuguide_docs/show/byline.py", '"details"', '"all details"')
    ran = project.build()
    assert ran.code == 0, ran.output
    assert "all details" in project.page()


def test_a_title_that_the_check_read_first_changes_on_other_pages_too(built_template):
    project = built_template.restored()
    assert 'title="Other"' in project.page("pictures", "later")
    project.edit("docs/other.rst", "Other\n=====", "Elsewhere\n=========")
    assert check(project).code == BROKEN
    assert project.build().code == 0
    assert 'title="Elsewhere"' in project.page("pictures", "later")
