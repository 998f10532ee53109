"""Fixtures of the miniature project, recorded and built once a session."""

from __future__ import annotations

import fcntl
import os
import shutil

import pytest
from mini_project import Project, Snapshot, write_project


@pytest.fixture(scope="session")
def recorded_template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The miniature project, recorded once for all processes that run tests; never changed."""
    shared = tmp_path_factory.getbasetemp()
    # Each process of xdist has a folder of its own below that of the session.
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    project = Project(shared / "template" / "mini")
    project.root.parent.mkdir(exist_ok=True)
    with (project.root.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not project.root.exists():
            made = write_project(project.root.with_name("made"))
            ran = made.record()
            assert ran.code == 0, ran.output
            made.root.rename(project.root)
    return project


@pytest.fixture(scope="session")
def built_template(recorded_template: Project, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The recorded project, built once a session."""
    project = Project(tmp_path_factory.mktemp("built") / "mini")
    shutil.copytree(recorded_template.root, project.root)
    # As `make html` does: what another process reads must not be forgotten.
    ran = project.build("-j", "2")
    assert ran.code == 0, ran.output
    return Snapshot.of(project)


@pytest.fixture(scope="module")
def make_project(
    recorded_template: Project, built_template: Snapshot, tmp_path_factory: pytest.TempPathFactory
):
    """A function that gives a fresh copy of the recorded project, to change and build."""

    def make() -> Project:
        project = Project(tmp_path_factory.mktemp("project") / "mini")
        shutil.copytree(recorded_template.root, project.root)
        # The drawn figures are at hand.
        shutil.copytree(built_template.kept.layout.cache, project.layout.cache)
        return project

    return make


@pytest.fixture
def project(make_project) -> Project:
    """A fresh copy of the recorded project, for one test."""
    return make_project()


@pytest.fixture(scope="session")
def built(built_template: Snapshot) -> Project:
    """A recorded and built copy, shared by the tests that change nothing."""
    return built_template.kept
