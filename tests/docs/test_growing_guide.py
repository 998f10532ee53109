"""A page costs the same however many pages the guide has."""

import os

import pytest
from mini_project import MACHINE, NOT_LIVE, Project, run_file, write_project


def grow(project: Project, n_pages: int) -> None:
    """Add copies of the page `toy`, with their recordings, until there are so many."""
    script, run = project.layout.script("start", "toy"), run_file(project)
    # Without charts, whose drawing takes most of a page's time.
    text = script.read_text().partition("# %%\n\n# draw")[0]
    entries = project.layout.pages_toml.read_text()
    entry = "[[page]]" + entries.split("[[page]]")[1].replace('name = "toy"', 'name = "{}"\ntopic = "toy"')
    for number in range(entries.count("[[page]]"), n_pages):
        name = f"toy_{number}"
        script.with_name(f"{name}.py").write_text(text)
        recorded = project.layout.recorded / MACHINE / name / run.name
        recorded.parent.mkdir()
        recorded.write_text(run.read_text().replace('"page": "toy"', f'"page": "{name}"'))
        entries += "\n" + entry.replace("{}", name)
    project.layout.pages_toml.write_text(entries)


def cpu_s(tmp_path, n_pages: int) -> float:
    """Seconds of a processor for a clean build."""
    project = write_project(tmp_path / str(n_pages))
    grow(project, n_pages)
    before = os.times()
    project.edit("conf.py", 'nb_execution_mode = "force"', NOT_LIVE)
    ran = project.build()
    after = os.times()
    assert ran.code == 0, ran.output
    return sum(after[2:4]) - sum(before[2:4])


@pytest.mark.slow
def test_the_build_of_a_growing_guide_is_linear(tmp_path):
    base, few, many = (cpu_s(tmp_path, n_pages) for n_pages in (4, 48, 136))
    # Were each page compared with each other, this would be 2.7.
    assert (many - base) / 132 < 2 * (few - base) / 44, (base, few, many)
