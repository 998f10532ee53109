"""What a drawing of ours may hold, so that names in it can never act in a browser."""

from __future__ import annotations

from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_ACTING = ("script", "foreignObject", "a", "image", "set", "animate", "animateTransform", "animateMotion")


def assert_only_draws(svg: str) -> None:
    """Fail for elements that run, load or move something, for event handlers and for links outwards."""
    assert "<!" not in svg
    for element in ElementTree.fromstring(svg).iter():
        assert element.tag.startswith(_SVG)
        assert element.tag.removeprefix(_SVG) not in _ACTING
        for name, value in element.items():
            assert not name.lower().startswith("on"), name
            assert not name.endswith("href") or value.startswith("#"), value
            assert "url(" not in value or value.startswith("url(#"), value
