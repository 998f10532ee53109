"""A page's script as the contract sees it: headings, directives, roles."""

from gpuguide_docs.contract.page_source import read_script


def test_a_line_of_a_caption_that_begins_with_a_role_is_no_option(tmp_path):
    script = tmp_path / "page.py"
    script.write_text(
        '"""\nTitle\n=====\n\nQuestion?\n"""\n# %%\n# .. finding::\n#\n#    The kernel takes\n'
        "#    :measured:`study[variant, 8].time`, no more.\n#\n# .. kernel:: module\n#    :names: a, b\n"
    )
    page = read_script(script)
    (caption,) = page.directive("finding")
    assert caption.content == "The kernel takes\n:measured:`study[variant, 8].time`, no more."
    assert caption.options == {}
    (kernel,) = page.directive("kernel")
    assert kernel.options == {"names": "a, b"}
