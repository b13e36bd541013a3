"""Names that come from data, made harmless to look at and short.

A label, a column or a file name may hold anything: line breaks, escape codes that move a cursor,
marks that turn the reading direction. Those are shown as escapes.
"""

from __future__ import annotations

# Both stand here for all that write names.
from assay.escaping import LONGEST as LONGEST  # noqa: PLC0414
from assay.escaping import visible as visible  # noqa: PLC0414

LONGEST_SENTENCE = 2000
NOTHING, BLANK = "(empty)", "(blank)"


def short(text: str, longest: int = LONGEST, gap: str = "…") -> str:
    """The text, cut in the middle where it is too long.

    >>> short("a-very-long-name", 9)
    'a-ve…name'
    """
    if len(text) <= longest:
        return text
    kept = max(longest - len(gap), 2)
    head = kept - kept // 2
    return text[:head] + gap + text[len(text) - kept // 2 :]


def name(text: str, longest: int = LONGEST) -> str:
    """A name as a reader should see it: visible, short, and never nothing."""
    if not text.strip(" "):
        return BLANK if text else NOTHING
    return short(visible(short(text, 4 * longest)), longest)


def sentence(text: str) -> str:
    """A sentence that may hold names: visible, and no longer than anybody reads."""
    return short(visible(text), LONGEST_SENTENCE, " … ")
