"""The pages of the measures, written from the catalogue.

A measure that is declared has its page; there is nothing else to write. The examples on a page are
computed here and run again as doctests, so that a page can't promise what the code does not do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import assay
from assay.v02.evaluation import MeasureFunction, evaluate_counts
from assay.v02.formula import latex, plain, proportion, reason
from assay.v02.inference import Estimate
from assay.v02.measures import (
    HIGHER,
    NEITHER,
    Counts,
    Interval,
    Law,
    MeanLoss,
    Measure,
    Needs,
    OpenSet,
    OverPairs,
    Ranked,
    catalogue,
)
from assay.v02.report.measure_pages import formula_of, span, symbols_of

REFERENCES = Path(__file__).parent / "references.rst"
API = Path(__file__).parent / "api.rst"

CELLS = (
    "TP, FP, FN and TN are the cells of the confusion matrix: attacks that raised an alarm, "
    "harmless rows that did, attacks that did not, and harmless rows that did not."
)
CLASS_SYMBOLS = (
    "Over classes i: C\\ :sub:`ii` are the rows of the class that were decided right, r\\ :sub:`i` "
    "all its rows, c\\ :sub:`i` the rows decided as it; N are all rows, K is the number of classes."
)

# Longer formulas stand on their own page alone.
WIDEST = 80
COSTS = {"cost_fp": 1, "cost_fn": 20}
TRUTH = ["attack", "attack", "normal", "attack", "normal", "normal", "attack", "normal"]
SCORE = [0.92, 0.81, 0.75, 0.64, 0.38, 0.21, 0.47, 0.05]
CLASS_TRUTH = ["dos", "dos", "probe", "probe", "normal", "normal"]
CLASS_PROBABILITY = {
    "dos": [0.7, 0.4, 0.3, 0.1, 0.1, 0.2],
    "normal": [0.2, 0.1, 0.3, 0.2, 0.8, 0.6],
    "probe": [0.1, 0.5, 0.4, 0.7, 0.1, 0.2],
}
UNKNOWN = "worm"
UNKNOWN_PROBABILITY = {"dos": [0.5, 0.2], "normal": [0.3, 0.6], "probe": [0.2, 0.2]}


def pages() -> dict[str, str]:
    """File name to reStructuredText: an index and one page a measure."""
    measures = catalogue.CATALOGUE
    known = cited_works()
    texts = {"index.rst": _index(measures)}
    for measure in measures:
        texts[f"{measure.name}.rst"] = _page(measure, known)
    return texts


def write_pages(out_dir: str | Path) -> None:
    """Write the pages into a folder, and remove those of measures that are gone."""
    folder = Path(out_dir)
    folder.mkdir(parents=True, exist_ok=True)
    written = pages()
    for old in folder.glob("*.rst"):
        if old.name not in written:
            old.unlink()
    for name, text in written.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def cited_works() -> frozenset[str]:
    """The works that references.rst lists, as author and year."""
    return frozenset(re.findall(r"^   (\S.* \d{4})$", REFERENCES.read_text("utf-8"), re.MULTILINE))


def missing_references() -> list[str]:
    """Works with author and year that a measure cites and references.rst does not list."""
    known = cited_works()
    cited = {key for measure in catalogue.CATALOGUE for _, key in _citations(measure.reference)}
    return sorted(key for key in cited if key not in known and re.search(r" \d{4}$", key))


def missing_names() -> list[str]:
    """Public names of the package that api.rst does not document."""
    listed = set(
        re.findall(r"^\.\. \w+:: (?:assay\.)?(\w+)$", API.read_text("utf-8"), re.MULTILINE)
    )
    return sorted(set(assay.__all__) - listed)


# -- the index -------------------------------------------------------------------------------------


def _index(measures: Sequence[Measure]) -> str:
    groups = dict.fromkeys(measure.group for measure in measures)
    about = (
        f"There are {len(measures)} measures in {len(groups)} groups. Each has a page with its "
        f"formula, how to read it, when it misleads, its interval and an example that runs. In "
        f"Python each is a function, ``assay.precision(...)``, and a key of an evaluation, "
        f'``evaluation["precision"]``; the other names that a page lists work as well.'
    )
    text = [_title("Measures"), about, CELLS]
    for group in groups:
        members = [measure for measure in measures if measure.group == group]
        rows = [
            (
                f":doc:`{measure.name}`",
                _escaped(measure.reads),
                _short(measure),
                _direction(measure),
            )
            for measure in members
        ]
        text += [
            _title(group.capitalize(), "-"),
            catalogue.GROUPS[group],
            _table(("measure", "reads", "formula", "better"), rows, (22, 42, 24, 12)),
        ]
    listed = "\n".join(f"   {measure.name}" for measure in measures)
    text += [f".. toctree::\n   :hidden:\n\n{listed}"]
    return _joined(text)


def _short(measure: Measure) -> str:
    """The formula where it fits into a table."""
    if measure.of_scores is not None:
        return "of scores"
    formula = formula_of(measure)
    return f":math:`{formula.latex}`" if len(formula.plain) <= WIDEST else "of counts"


def _direction(measure: Measure) -> str:
    if measure.better is NEITHER:
        return "neither"
    return "higher" if measure.better is HIGHER else "lower"


# -- one page --------------------------------------------------------------------------------------


def _page(measure: Measure, known: frozenset[str]) -> str:
    example = _Example(measure)
    text = [
        _title(measure.name),
        f"**{_escaped(measure.reads)}**",
        *_definition(measure),
        _facts(measure),
        _title("When it misleads", "-"),
        _escaped(measure.misleads),
        *_undefined(measure),
        *_bands(measure),
        _title("Interval", "-"),
        _interval(measure, example.estimate),
        _title("What it is indifferent to", "-"),
        _laws(measure),
        _title("Example", "-"),
        *_worked(measure),
        example.text(),
        *_parts(measure, example.estimate),
        _title("Reference", "-"),
        _reference(measure.reference, known),
    ]
    return _joined(text)


def _formula(measure: Measure) -> str:
    return "" if measure.of_scores is not None else formula_of(measure).latex


def _definition(measure: Measure) -> list[str]:
    if measure.formula is None:  # of scores, or of costs
        return [_math(formula_of(measure).latex), symbols_of(measure)]
    text = [_math(_formula(measure))]
    if measure.definition is not None:
        text.append(symbols_of(measure))
    if measure.classes is not None:
        text += ["For K classes:", _math(latex(measure.classes)), CLASS_SYMBOLS]
    return text


def _facts(measure: Measure) -> str:
    low, high = (
        f"{'minus ' * (end < 0)}infinity" if math.isinf(end) else f"{end:g}"
        for end in measure.range
    )
    rows = [
        ("Range", f"{low} to {high}"),
        ("Direction", measure.better.value),
        ("Group", f"{measure.group}"),
        ("Needs", measure.needs.value),
        ("Also called", ", ".join(f"``{alias}``" for alias in measure.aliases) or "no other name"),
    ]
    names = {other.name for other in catalogue.CATALOGUE}
    if measure.complement in names:
        rows.append(("1 minus it", f":doc:`{measure.complement}`"))
    if measure.swapped in names:
        rows.append(("With the classes swapped", f":doc:`{measure.swapped}`"))
    rows.append(("More than two classes", _many(measure)))
    return _table(None, rows, (30, 70))


def _many(measure: Measure) -> str:
    """What there is of a measure when there are more than two classes."""
    if measure.of_costs is not None:
        return "costs are of errors about one positive label: name it by ``positive=``"
    counted = measure.of_scores is None
    said = []
    if measure.classes is not None:
        said.append("one number of all classes, by the second formula")
    elif isinstance(measure.of_scores, MeanLoss | OverPairs | OpenSet):
        said.append("one number of all classes")
    one_sided = not (measure.symmetric and measure.classes is not None)
    if (counted and one_sided) or (isinstance(measure.of_scores, Ranked) and measure.averages):
        said.append(f"one value a class against the rest, ``{measure.name}.LABEL``")
    if measure.averages and measure.needs is not Needs.LOSSES:
        kinds = ("macro", "micro", "weighted") if counted else ("macro", "weighted")
        said.append("averages, " + ", ".join(f"``{measure.name}.{kind}``" for kind in kinds))
    return "; ".join(said) or "of one class against the rest, by ``positive=``"


def _undefined(measure: Measure) -> list[str]:
    """Every reason that a formula can have, found by emptying its cells in all ways."""
    if measure.formula is None:
        return []
    full = {"TP": 3, "FP": 1, "FN": 2, "TN": 4}
    reasons = {}
    for kept in product((1, 0), repeat=4):
        cells = {name: count * keep for (name, count), keep in zip(full.items(), kept, strict=True)}
        why = reason(measure.formula, cells)
        if why is not None:
            reasons.setdefault(why)
    if not reasons:
        return []
    listed = _bullets(_escaped(why) for why in reasons)
    return ["It is undefined, ``nan`` with this reason, when", listed]


def _bands(measure: Measure) -> list[str]:
    if not measure.bands:
        return []
    rows = [(span(band, measure), _escaped(band.reading)) for band in measure.bands]
    return [_title("Bands", "-"), _table(("value", "reading"), rows, (30, 70))]


def _interval(measure: Measure, estimate: Estimate) -> str:
    share = None if measure.formula is None else proportion(measure.formula)
    if measure.interval is Interval.BY_SHAPE and share is not None:
        how = (
            f"It is a proportion, {plain(share.successes)} of {plain(share.trials)} rows, so every "
            f"binomial interval is legal. The default is Wilson's; Clopper-Pearson, Jeffreys, "
            f"Agresti-Coull and Wald can be asked for."
        )
    elif measure.interval is Interval.BY_SHAPE:
        how = (
            f"It is not a proportion, so binomial intervals do not apply. The default is the delta "
            f"method {_scale(measure)}."
        )
    elif measure.interval is Interval.NONE:
        why = (estimate.note or "").partition(": ")[2].partition(";")[0]
        how = f"It has none: {why}." if why else "It has none."
    else:
        how = f"It is not a proportion. The default: {measure.interval.value}."
    return f"{_escaped(how)} See :doc:`../intervals`."


def _scale(measure: Measure) -> str:
    if math.isinf(measure.range[0]):
        return "on the log scale of what is missing to 1"
    if math.isinf(measure.range[1]):
        return "on the log scale, which keeps it above 0"
    if measure.range[0] < 0:
        return "on the scale of atanh, which keeps it between -1 and 1"
    return "on the logit scale, which keeps it between 0 and 1"


def _laws(measure: Measure) -> str:
    holding = [law.value for law in Law if law in measure.invariant_under]
    others = [law.value for law in Law if law not in measure.invariant_under]
    # Decisions have no scores to map, and scores can't change places with the truth.
    senseless = {Law.SCORE_MAP if measure.of_scores is None else Law.TRANSPOSE}
    if measure.needs is Needs.OPEN_SET:
        # No class of an open set is the positive.
        senseless |= {Law.CLASS_SWAP, Law.TRUE_NEGATIVES}
    others = [law for law in others if law not in {each.value for each in senseless}]
    text = []
    if holding:
        text += ["It stays the same when", _bullets(holding)]
    if others:
        text += ["It changes when", _bullets(others)]
    return "\n\n".join(text)


def _worked(measure: Measure) -> list[str]:
    """The example of the declaration, with its numbers in the formula."""
    if measure.example is None or measure.formula is None:
        return []
    counts, exact = measure.example
    filled = re.sub(
        r"\b(?:TP|FP|FN|TN)\b", lambda cell: str(counts.cells()[cell[0]]), _formula(measure)
    )
    whole = exact.denominator == 1
    value = str(exact) if whole else rf"\frac{{{exact.numerator}}}{{{exact.denominator}}}"
    cells = ", ".join(f"{name} = {count}" for name, count in counts.cells().items())
    return [f"With {cells}:", _math(rf"{filled} = {value}")]


def _parts(measure: Measure, estimate: Estimate) -> list[str]:
    """The steps on the way: what each is, and what it is in the example."""
    if not measure.parts:
        return []
    rows = [
        (
            f"``{name}``",
            f":math:`{latex(expression)}`",
            f"{estimate.parts[name]:.4g}" if name in estimate.parts else "",
        )
        for name, expression in measure.parts.items()
    ]
    return [
        "Its parts are in ``estimate.parts``:",
        _table(("part", "formula", "in the example"), rows, (20, 50, 30)),
    ]


class _Example:
    """An example that runs: its lines and what the last of them prints."""

    def __init__(self, measure: Measure) -> None:
        if measure.of_scores is None:
            self.lines, self.estimate = _counted_example(measure)
        else:
            self.lines, self.estimate = _scored_example(measure)

    def text(self) -> str:
        lines = [f"   >>> {line}" for line in ["import assay", *self.lines]]
        return "\n".join([".. code-block:: pycon", "", *lines, f"   {self.estimate!r}"])


def _counted_example(measure: Measure) -> tuple[list[str], Estimate]:
    counts = measure.example[0] if measure.example else Counts(tp=3, fp=1, fn=2, tn=4)
    given = counts._asdict() | (COSTS if measure.of_costs is not None else {})
    cells = ", ".join(f"{name}={number}" for name, number in given.items())
    if measure.name.isidentifier():
        return [f"assay.{measure.name}({cells})"], MeasureFunction(measure)(**given)
    estimate = evaluate_counts(**counts._asdict())[measure.name]
    return [f'assay.evaluate_counts({cells})["{measure.name}"]'], estimate


def _scored_example(measure: Measure) -> tuple[list[str], Estimate]:
    function = MeasureFunction(measure)
    if isinstance(measure.of_scores, Ranked) and measure.of_scores.negatives > len(TRUTH):
        # Each harmless row stands for as many as the measure asks for.
        many = measure.of_scores.negatives
        counts = [1 if label == TRUTH[0] else many for label in TRUTH]
        lines = [f"y_true = {_listed(TRUTH)}", f"y_score = {SCORE}", f"counts = {counts}"]
        estimate = function(TRUTH, SCORE, counts=counts)
        return [*lines, f"assay.{measure.name}(y_true, y_score, counts=counts)"], estimate
    estimate = function(TRUTH, SCORE)
    if not math.isnan(estimate):
        lines = [f"y_true = {_listed(TRUTH)}", f"y_score = {SCORE}"]
        return [*lines, f"assay.{measure.name}(y_true, y_score)"], estimate
    truth, table, more = list(CLASS_TRUTH), dict(CLASS_PROBABILITY), {}
    if measure.needs is Needs.OPEN_SET:
        truth += [UNKNOWN, UNKNOWN]
        table = {name: [*column, *UNKNOWN_PROBABILITY[name]] for name, column in table.items()}
        more = {"unknown": UNKNOWN}
    columns = [f"{name}={column}" for name, column in table.items()]
    lines = [f"y_true = {_listed(truth)}", "y_proba = dict("]
    start = "\n   ...     "
    lines[1] += start + f",{start}".join(columns) + ",\n   ... )"
    estimate = function(truth, table, **more)
    asked = "".join(f', {name}="{value}"' for name, value in more.items())
    return [*lines, f"assay.{measure.name}(y_true, y_proba{asked})"], estimate


def _listed(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


# -- references ------------------------------------------------------------------------------------


def _citations(reference: str) -> list[tuple[str, str]]:
    """The works that a reference names, each with the words before it."""
    pairs = []
    for part in reference.split(";"):
        before, key = re.fullmatch(r"\s*((?:bands by )?)(.*?)\s*", part, re.DOTALL).groups()
        pairs.append((before, key))
    return pairs


def _reference(reference: str, known: frozenset[str]) -> str:
    return "; ".join(
        before + (f":term:`{key}`" if key in known else _escaped(key))
        for before, key in _citations(reference)
    )


# -- reStructuredText ------------------------------------------------------------------------------


def _escaped(text: str) -> str:
    r"""Text in which no character has a meaning of its own.

    >>> _escaped("R_k is 2^-52 * x")
    'R\\_k is 2^-52 \\* x'
    """
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}"


def _math(formula: str) -> str:
    return f".. math::\n\n   {formula}"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(
    heads: Sequence[str] | None, rows: Sequence[Sequence[str]], widths: Sequence[int]
) -> str:
    lines = [".. list-table::"]
    if heads is not None:
        lines.append("   :header-rows: 1")
    lines += [f"   :widths: {' '.join(map(str, widths))}", ""]
    for row in [*([heads] if heads is not None else []), *rows]:
        lines.append(f"   * - {row[0]}")
        lines += [f"     - {cell}" for cell in row[1:]]
    return "\n".join(lines)


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(block for block in blocks if block) + "\n"
