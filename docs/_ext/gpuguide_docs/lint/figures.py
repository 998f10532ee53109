"""The check for typed figures: no time, rate, speed-up, energy or percentage of one stands in prose."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["TypedFigure", "find_typed_figures"]

_DIGITS = r"(?:\d[\d\u202f\u00a0,_]*(?:[.,]\d+)?(?:\s?e[+-]?\d+)?|\d*\.\d+)"
_UNITS_OF_TEN = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SMALL = "two|three|four|five|six|seven|eight|nine"
_WORD = (
    rf"(?:(?:{_TENS})(?:[- ](?:one|{_SMALL}))?|{_UNITS_OF_TEN}|one|{_SMALL}"
    r"|(?:a |one |several |some )?(?:hundred|thousand|million|billion|dozen)s?(?: of)?|half an?|a|an|several)"
)
_NUMBER = rf"(?:(?:about|some|nearly|over|under|roughly|~|≈)\s*)?(?:{_DIGITS}|\b{_WORD})"
_GAP = r"[\s\u202f\u00a0-]{0,2}"
_TIME = (
    r"(?:(?:nano|micro|milli)?seconds?|(?:n|µ|μ|u|m)s|nsec|usec|msec|secs?|s|minutes?|mins?|hours?|hrs?|h)"
)
_RATE = (
    r"(?:[KMGTP]i?B|[kMGTP]?bytes?|B|(?:giga|tera|mega)bytes?|[GTMP]?FLOPs?|[GTMP]?flops?|elements?|items?|keys?)"
    r"\s?(?:/\s?s(?:ec(?:ond)?)?\b|ps\b|\s(?:a|per)\ssecond)"
)
_MORE = (
    r"(?:faster|slower|quicker|as\s(?:fast|slow|long|quick|much\s(?:time|bandwidth))"
    r"|the\s(?:time|speed|rate|bandwidth|throughput))"
)
_MEASURED = (
    r"(?:time|runtime|rate|speed(?:-?up)?|bandwidth|throughput|peak|ceiling|copy rate|roofline|energy"
    r"|performance|faster|slower|quicker|cost|overhead|utili[sz]ation|occupied|of (?:it|that|this))"
)
_FRACTION = r"(?:half|a\s(?:third|quarter|fifth|tenth|hundredth|thousandth)|two\sthirds|three\squarters)"
_ABOUT = rf"(?:about\s+|over\s+)?(?:{_DIGITS}|{_WORD})\b"
# Number words need a comparison after them: "three times" alone counts something.
_THAN = r"(?=\s*(?:over|against|what|better|cheaper|shorter|longer|more\sthan|less))"
# "10 times" is a speed-up where the clause ends; in "10 times a day" it is a count.
_STOP = r"(?=\s*(?:[.,;:)]|$|with|over|against|what|better|cheaper|shorter|longer|more\sthan|less))"
# "A second launch" is no time, "a second later" and "a second to start" are.
_ORDINAL = r"\ba\ssecond\s(?!(?:to|for|or|and|later|each|on|in|at|of|than|per|when|is|was)\b)\w"
_COUNT = rf"(?:{_SMALL}|{_UNITS_OF_TEN}|{_TENS}|hundreds?|thousands?)"

# (?-i:...) holds units in which capitals matter: mW is not MW.
_TABLE = (
    ("rate", rf"{_NUMBER}{_GAP}{_RATE}"),
    ("rate", rf"{_DIGITS}{_GAP}(?-i:[GTMP]FLOPS|[GT]Bps)"),
    ("energy", rf"{_NUMBER}{_GAP}(?:(?:milli|kilo)?joules?|(?:kilo)?watt[- ]?hours?|(?:kilo)?watts?)\b"),
    ("energy", rf"{_DIGITS}{_GAP}(?-i:[mk]?J|[mk]?Wh|[mk]?W)\b"),
    ("percentage", rf"{_NUMBER}{_GAP}(?:%|per\s?cent\b|percentage points?)(?!\s*(?:confidence|interval))"),
    ("speed-up", rf"{_DIGITS}\s?(?:x|×|-?fold)(?!\w)(?!\s?\d)"),
    ("speed-up", rf"\b{_WORD}[- ]?fold\b"),
    ("speed-up", rf"{_NUMBER}{_GAP}times\s+{_MORE}"),
    ("speed-up", rf"{_DIGITS}\s+times{_STOP}"),
    ("speed-up", rf"\b{_COUNT}\s+times{_THAN}"),
    ("speed-up", rf"\b(?:twice|thrice)\s+{_MORE}"),
    ("speed-up", rf"\b(?:doubl|tripl|quadrupl|halv)e[sd]?\s+the\s+{_MEASURED}"),
    ("speed-up", r"\borders?\s+of\s+magnitude\b"),
    ("speed-up", rf"\bspeed-?ups?\s+(?:of|by)\s+{_ABOUT}"),
    ("speed-up", rf"\bfactor\s+of\s+{_ABOUT}"),
    ("fraction", rf"\b{_FRACTION}\s+(?:of\s+)?(?:its|the|that|this|a|as)\s+(?:\w+\s+)?{_MEASURED}\b"),
    ("fraction", rf"\b{_FRACTION}\s+(?:as\s+)(?:fast|slow|long)\b"),
    ("time", rf"{_DIGITS}{_GAP}(?-i:{_TIME})\b(?!\s*-)"),
    ("time", rf"(?!{_ORDINAL})\b(?:{_WORD}){_GAP}(?:(?:nano|micro|milli)?seconds?|minutes?|hours?)\b"),
)

# (what it is, how it is recognised), tried in this order on each line.
_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _TABLE)


@dataclass(frozen=True)
class TypedFigure:
    """A figure that somebody typed: its line, its kind (``"time"``, ``"rate"``, ...) and its words."""

    line: int
    kind: str
    text: str


def find_typed_figures(text: str, line: int = 1) -> list[TypedFigure]:
    """Find typed figures in prose without markup, whose first line has this number.

    >>> [figure.text for figure in find_typed_figures("It takes 3 ms with 256 threads.")]
    ['3 ms']
    """
    figures: list[TypedFigure] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            at = line + text.count("\n", 0, match.start())
            figures.append(TypedFigure(at, kind, " ".join(match.group().split())))
            # Blanked, so that no later pattern finds a part of it again.
            text = text[: match.start()] + re.sub(r"[^\n]", " ", match.group()) + text[match.end() :]
    return figures
