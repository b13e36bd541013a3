"""A plain sentence on each pair of models."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.decisions.compare.comparison import (
    BETTER,
    EQUIVALENT,
    UNDECIDED,
    WORSE,
    Difference,
    Verdict,
    direction,
)
from assay.errors import MethodError
from assay.inference import Estimate
from assay.inference.estimate import decimal
from assay.inference.operating import Rule
from assay.inference.quantiles import normal, student
from assay.inference.significance import p_text
from assay.measures import RECALL

MARGIN = 0.01
# The chance with which what is called enough would decide.
POWER = 0.8
_MOST = 10**12
_MOST_FOLDS = 1000


@dataclass(frozen=True)
class Size:
    """How much data there is.

    ``resting`` is of how many rows the measure is that decides; ``lasting`` the part of the
    variance, in units of one fold's, that more folds don't take away; ``df`` the degrees of freedom
    of the interval.
    """

    count: int
    unit: str
    resting: int = 0
    lasting: float = 0.0
    df: float = math.inf

    def needed(self, error: float, level: float, more: float, target: float) -> float:
        """How much data brings the interval's reach, and ``more`` errors, down to a target."""
        if self.lasting == 0:
            return self.count * ((normal(level) + more) * error / target) ** 2
        for folds in range(self.count + 1, _MOST_FOLDS + 1):
            left = (1 / folds + self.lasting) / (1 / self.count + self.lasting)
            if (student(level, folds - 1) + more) * error * math.sqrt(left) <= target:
                return folds
        return math.inf


def checked_margin(margin: float) -> float:
    """A margin above 0."""
    number = isinstance(margin, int | float)
    if not number or not 0 < margin < math.inf:
        raise MethodError(f"margin is a number above 0, such as 0.01; found {margin!r}")
    return float(margin)


def verdict(
    found: Difference, *, margin: float, pairs: int, size: Size, at: Rule | None = None
) -> Verdict:
    """What a difference says of its pair: is B better than A?

    Of several pairs, one model is called better only if Holm's p says so too.
    """
    name = found.measure if at is None else f"{found.measure} at {at}"
    if found.measure == RECALL.name and at is not None:
        name = f"the {RECALL.title} at {at}"
    outcome, text, enough = _judged(found, name, margin, pairs, size)
    return Verdict(found.a, found.b, text, outcome, found.measure, enough)


def _judged(
    found: Difference, name: str, margin: float, pairs: int, size: Size
) -> tuple[str, str, int | None]:
    gap, a, b = found.difference, found.a, found.b
    if math.isnan(gap):
        return (
            UNDECIDED,
            f"{a} and {b} can't be compared: {name} is undefined for one of them.",
            None,
        )
    if math.isnan(gap.low):
        said = f"{a} and {b} can't be told apart: the spread of {name} is not known here."
        return UNDECIDED, said, None
    if gap.low == gap.high == 0:
        return _alike(found, name, margin, size)
    told = gap.low > 0 or gap.high < 0
    shown = pairs == 1 or (found.p_adjusted is not None and found.p_adjusted < 1 - gap.level)
    if told and shown:
        return _told(found, name, margin, pairs)
    if -margin < gap.low and gap.high < margin:
        return (
            EQUIVALENT,
            f"{a} and {b} are equivalent: {name} differs by less than {margin:g}.",
            None,
        )
    said = f"Not enough data to tell {a} from {b}: the difference in {name} lies between "
    said += f"{decimal(gap.low, sign='+')} and {decimal(gap.high, sign='+')}"
    if told and found.p_adjusted is not None:
        said += f", which {pairs} pairs may show by chance ({p_text(found.p_adjusted)} by Holm)"
    enough, hope = rows_enough(gap, margin, pairs, size)
    return UNDECIDED, f"{said}. {hope}", enough


def _told(found: Difference, name: str, margin: float, pairs: int) -> tuple[str, str, None]:
    """The later of two models as better or worse; of more, whichever is better stands first."""
    gap, sign = found.difference, direction(found.measure)
    higher = gap.low > 0
    first, second = found.b, found.a
    outcome = BETTER if higher == (sign > 0) else WORSE
    low, high = (gap.low, gap.high) if higher else (-gap.high, -gap.low)
    size = Estimate(abs(gap), low, high)
    word = outcome
    if pairs > 1 and outcome == WORSE:
        first, second, higher, word = second, first, not higher, BETTER
    by = f"{name} is {'higher' if higher else 'lower'} by {size}"
    if high < margin:
        by += f", within the margin of {margin:g}"
    return outcome, f"{first} is {word} than {second}: {by}.", None


def _alike(found: Difference, name: str, margin: float, size: Size) -> tuple[str, str, int | None]:
    """No row tells a difference, which many rows make sure of and few don't."""
    one = size.unit.removesuffix("s")
    said = f"{found.a} and {found.b} can't be told apart: no {one} tells a difference in {name}."
    if not size.resting:
        return UNDECIDED, said, None
    # So large a share of rows that differ would have shown one among as many rows.
    share = 1 - found.difference.level
    if 1 - share ** (1 / size.resting) < margin:
        return EQUIVALENT, f"{said} They are equivalent within {margin:g}.", None
    needed = _rounded(math.log(share) / math.log1p(-margin)) if margin < 1 else 1
    more = f"About {needed:,} {size.unit} alike would call them equivalent within {margin:g}."
    return UNDECIDED, f"{said} {more}", needed


def rows_enough(gap: Estimate, margin: float, pairs: int, size: Size) -> tuple[int | None, str]:
    """About how much data would decide, if the difference stays what it is; and that in words.

    A difference is shown when its interval leaves out 0, and equivalence when the interval lies
    within the margin: whichever takes less. The half-width shrinks with the root of the size.
    """
    from scipy.special import ndtri

    off = abs(float(gap))
    spanned = normal(gap.level) if math.isinf(size.df) else student(gap.level, size.df)
    error = (gap.high - gap.low) / 2 / spanned
    level = 1 - (1 - gap.level) / pairs
    ways = []
    if off > 0:
        ways.append((size.needed(error, level, float(ndtri(POWER)), off), "tell them apart"))
    if off < margin:
        # Either end may leave the margin.
        more = float(ndtri((1 + POWER) / 2))
        what = f"call them equivalent within {margin:g}"
        ways.append((size.needed(error, level, more, margin - off), what))
    least, what = min(ways)
    needed = max(least, 1.2 * size.count)
    if not needed < _MOST:
        hint = "; more rows might" if size.lasting else ""
        return None, f"No number of {size.unit} like these would be enough to {what}{hint}."
    enough = _rounded(needed)
    return enough, (
        f"About {enough:,} {size.unit} like these would be enough to {what}, if the difference "
        f"stays at {float(gap):+.3f}."
    )


def _rounded(number: float) -> int:
    """Rounded up to two digits.

    >>> _rounded(12345), _rounded(7)
    (13000, 7)
    """
    step: int = 10 ** max(len(str(math.ceil(number))) - 2, 0)
    return math.ceil(number / step) * step
