"""Recorded text: what passes, and all that must not."""

from __future__ import annotations

import pytest

from gpuguide.errors import RecordingError
from gpuguide.recordings.plain_text import check_text
from gpuguide_docs.record.execution import plain_text


@pytest.mark.parametrize(
    "character", ["\x00", "\x0b", "\x0c", "\r", "\x1b", "\x1c", "\x85", "\u2028", "\u202e", "\ud800"]
)
def test_text_that_breaks_out_of_its_block_is_refused(character: str) -> None:
    with pytest.raises(RecordingError, match=r"^f: g: .*at 3\.$"):
        check_text(f"one{character}two", file="f", field="g")


def test_every_line_break_of_python_but_one_is_refused() -> None:
    """A literal block is indented line by line: no text may hold a line that the writer does not see."""
    for code in range(0x11000):
        character = chr(code)
        if len(f"a{character}b".splitlines()) > 1 and character != "\n":
            with pytest.raises(RecordingError):
                check_text(character)


def test_captured_output_becomes_plain() -> None:
    assert (
        plain_text("\x1b[31mred\x1b[0m\r\n 1 %\r 99 %\r100 %\rdone\n\x07\u2028") == "red\ndone\n\ufffd\ufffd"
    )
    check_text(plain_text("".join(map(chr, range(0x3000)))))
