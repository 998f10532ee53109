"""Fixtures of the miniature project, recorded once a session."""

from __future__ import annotations

import shutil

import pytest
from mini_project import Project, write_project


@pytest.fixture(scope="session")
def recorded_template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The miniature project, recorded once a session; never changed."""
    project = write_project(tmp_path_factory.mktemp("template") / "mini")
    # Built once, so that each copy finds the drawn figures in its cache.
    for ran in (project.record(), project.build()):
        assert ran.code == 0, ran.output
    for built in (project.layout.build, project.layout.gallery):
        shutil.rmtree(built)
    return project


@pytest.fixture(scope="module")
def make_project(recorded_template: Project, tmp_path_factory: pytest.TempPathFactory):
    """A function that gives a fresh copy of the recorded project, to change and build."""

    def make() -> Project:
        root = tmp_path_factory.mktemp("project") / "mini"
        shutil.copytree(recorded_template.root, root)
        return Project(root)

    return make


@pytest.fixture
def project(make_project) -> Project:
    """A fresh copy of the recorded project, for one test."""
    return make_project()


@pytest.fixture(scope="module")
def built(make_project) -> Project:
    """A recorded and built copy, shared by the tests of a module that change nothing."""
    project = make_project()
    ran = project.build()
    assert ran.code == 0, ran.output
    return project
