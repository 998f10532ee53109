"""What the papers at the root and the page for contributors say is there: targets, paths, versions."""

import itertools
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import gpuguide

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOW = ".github/workflows/ci.yml"
HOOKS = ".pre-commit-config.yaml"
TEXTS = ("README.md", "CONTRIBUTING.md", "docs/contribute.md", "docs/architecture.md")
PAPERS = (*TEXTS, WORKFLOW, ".github/workflows/publish.yml", HOOKS)
TOP_FOLDERS = ("docs/", "examples/", "src/", "tests/", ".github/")
#: Made by a build, so not there in a fresh clone.
BUILT = ("docs/_build/",)


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def targets_of_the_makefile():
    return set(re.findall(r"^([a-z][a-z-]*):", text_of("Makefile"), re.MULTILINE))


def locked_versions():
    """Name -> the versions that the lock gives it, one for each group of Pythons."""
    versions = {}
    for line in text_of("requirements.lock").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            (version,) = requirement.specifier
            versions.setdefault(canonicalize_name(requirement.name), []).append(version.version)
    return versions


@pytest.mark.parametrize("paper", PAPERS)
def test_every_make_target_that_a_paper_names_exists(paper):
    named = set(re.findall(r"(?:`|\$ |run: |entry: )make ([a-z][a-z-]*)", text_of(paper)))
    assert named
    assert named <= targets_of_the_makefile()


@pytest.mark.parametrize("paper", TEXTS)
def test_every_path_that_a_paper_names_exists(paper):
    quoted = re.findall(r"`([^`\s<>*]+)`", text_of(paper))
    paths = [each for each in quoted if each.startswith(TOP_FOLDERS) and not each.startswith(BUILT)]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_page_for_contributors_shows_only_directives_and_roles_that_pages_use():
    page = text_of("docs/contribute.md")
    scripts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples").rglob("*.py"))
    shown = set(re.findall(r"\.\. [a-z-]+::|(?<=``):[a-z]+:`", page))
    assert len(shown) > 10
    assert {each for each in shown if each not in scripts} == set()


def test_pre_commit_runs_the_ruff_of_the_lock():
    """`pre-commit` and `make lint` must agree: after a new ruff, set its rev to the lock's version."""
    (ruff,) = [
        repo for repo in yaml.safe_load(text_of(HOOKS))["repos"] if repo["repo"].endswith("/ruff-pre-commit")
    ]
    assert [ruff["rev"].removeprefix("v")] == locked_versions()["ruff"]


def test_the_lock_has_what_pyproject_asks_for():
    """If this fails, `make lock` brings the lock up to date."""
    lists = [PYPROJECT["project"]["dependencies"], *PYPROJECT["dependency-groups"].values()]
    asked = list(itertools.chain(*lists, PYPROJECT["build-system"]["requires"]))
    locked = locked_versions()
    for text in asked:
        requirement = Requirement(text)
        versions = locked.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement.name} is not in requirements.lock"
        assert all(requirement.specifier.contains(version) for version in versions), (text, versions)


def test_the_workflow_runs_every_python_that_the_package_supports():
    prefix = "Programming Language :: Python :: "
    classifiers = [each.removeprefix(prefix) for each in PYPROJECT["project"]["classifiers"]]
    supported = [each for each in classifiers if re.fullmatch(r"3\.\d+", each)]
    jobs = yaml.safe_load(text_of(WORKFLOW))["jobs"]
    assert {name: job["strategy"]["matrix"]["python"] for name, job in jobs.items()} == dict.fromkeys(
        ("lint", "test", "site"), supported
    )


def test_the_changelog_tells_of_this_version():
    headings = re.findall(r"^## \[([^\]]+)\]", text_of("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert gpuguide.__version__ in headings
    assert f"version: {gpuguide.__version__}\n" in text_of("CITATION.cff")


def test_the_plain_pip_lines_install_what_the_extras_do():
    """The page for installing names the packages that a reader without the guide's own package needs."""
    lines = re.findall(r"\$ pip install (.*cupy.*)", text_of("docs/start/install.md"))
    extras = PYPROJECT["project"]["optional-dependencies"]
    named = {}
    for line in lines:
        wanted = [Requirement(each) for each in re.findall(r'"([^"]+)"', line)]
        cupy = wanted[0].name.removeprefix("cupy-").removesuffix("x")
        named[cupy] = {each.name: each.extras for each in wanted}
    assert sorted(named) == sorted(extras)
    for extra, packages in named.items():
        for requirement in map(Requirement, extras[extra]):
            if requirement.name != "cuda-toolkit":
                assert packages[requirement.name] == requirement.extras
