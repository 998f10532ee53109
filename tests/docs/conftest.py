"""Fixtures of the miniature guide: copied, or built once in each process that runs tests."""

from __future__ import annotations

import shutil

import pytest
from mini_project import NOT_LIVE, Project, Snapshot, write_project


@pytest.fixture(scope="session")
def recorded_template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The miniature guide with its recordings, as it is in a fresh clone; never changed."""
    return write_project(tmp_path_factory.mktemp("template") / "mini")


@pytest.fixture(scope="session")
def built_template(recorded_template: Project, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """It, built once, to be changed and built again by one test after the other."""
    project = Project(tmp_path_factory.mktemp("built") / "mini")
    shutil.copytree(recorded_template.root, project.root)
    # As `make html` does: what another process reads must not be forgotten.
    ran = project.build("-j", "2")
    assert (ran.code, ran.output) == (0, "")
    return Snapshot.of(project)


@pytest.fixture
def rebuilt(built_template: Snapshot) -> Project:
    """A built copy for one test to change and build again."""
    return built_template.restored()


@pytest.fixture(scope="module")
def make_project(
    recorded_template: Project, built_template: Snapshot, tmp_path_factory: pytest.TempPathFactory
):
    """A function that gives a fresh copy, not built, to change and build; its live cells do not run."""

    def make() -> Project:
        project = Project(tmp_path_factory.mktemp("project") / "mini")
        shutil.copytree(recorded_template.root, project.root)
        project.edit("conf.py", 'nb_execution_mode = "force"', NOT_LIVE)
        # The drawn figures are at hand.
        shutil.copytree(built_template.kept.layout.cache, project.layout.cache)
        return project

    return make


@pytest.fixture
def project(make_project) -> Project:
    """A fresh copy, not built, for one test."""
    return make_project()


@pytest.fixture
def recordable(recorded_template: Project, tmp_path) -> Project:
    """The same, for a test that draws nothing."""
    shutil.copytree(recorded_template.root, tmp_path / "mini")
    return Project(tmp_path / "mini")


@pytest.fixture(scope="session")
def built(built_template: Snapshot) -> Project:
    """The built copy that no test changes."""
    return built_template.kept
