"""What programs print of a model: classification reports, evaluations, lines of values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from assay.v02.decisions.audit.claim import safe_label
from assay.v02.decisions.audit.reading.published_tables import are_counts, cleaned, count_text, entry_of
from assay.v02.decisions.audit.reading.table_rows import Draft, Totals, speaks_of_folds
from assay.errors import InputError, UnknownMeasure
from assay.v02.escaping import plural
from assay.v02.measures import ACCURACY, F1, PRECISION, RECALL, find
from assay.v02.measures.catalogue import average_of, cell_of, heading_of, may_count, squeezed

REPORT_HEADER = re.compile(
    r"^(?:[^\S\n]|[>#|*])*+precision\s++recall\s++f1-?score(?:\s++support)?(?:\s++pred)?[^\S\n]*+$",
    re.I | re.M,
)
_COLUMNS = (PRECISION, RECALL, F1)
_VALUE = r"\d+\.\d*|\d+|nan"
_ROW = re.compile(
    rf"^(.*?)(?<!\s)\s++({_VALUE})\s+({_VALUE})\s+({_VALUE})(?:\s+(\d[\d.,]*))?\s*$", re.I
)
_ACCURACY = re.compile(rf"^\s*accuracy\s+({_VALUE})(?:\s+(\d[\d.,]*))?\s*$", re.I)
_SAMPLES = re.compile(r"samples\s+a(?:vg|verage)", re.I)
_PAIR = re.compile(r"^[\s>*•-]*+([^:=|\[\]{}]{1,60}?)\s*[:=]\s*([^:=|]{1,40}?)[\s,;]*$")
# More digits than so many are those of a float, whose last ones mean nothing.
_DIGITS = 12


def has_report(text: str) -> bool:
    """Whether a text holds a classification report."""
    return REPORT_HEADER.search(text) is not None


def report_claims(text: str, totals: Totals, title: str) -> tuple[list[Draft], list[str], str]:
    """The classification reports of a text as claims, what is said of them, and the other lines."""
    drafts: list[Draft] = []
    notes: list[str] = []
    rest: list[str] = []
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        if not REPORT_HEADER.match(lines[i]):
            rest.append(lines[i])
            i += 1
            continue
        end, rows = _report_rows(lines, i + 1)
        named = (
            f"classification report, line {i + 1}"
            if drafts or has_report("\n".join(lines[end:]))
            else "classification report"
        )
        draft, said = _of_rows(rows, totals, f"{title}: {named}" if title else named)
        drafts.append(draft)
        notes += said
        i = end
    return drafts, notes, "\n".join(rest)


def _report_rows(lines: Sequence[str], start: int) -> tuple[int, list[tuple[str, list[str]]]]:
    """The rows of a report: a name with its values; and the line behind it."""
    rows: list[tuple[str, list[str]]] = []
    end = start
    averaged = False
    for i in range(start, len(lines)):
        line = re.sub(r"^\s*[>#|]\s", " ", lines[i])
        accuracy, row = _ACCURACY.match(line), _ROW.match(line)
        if accuracy:
            rows.append((ACCURACY.name, [accuracy[1], accuracy[2] or ""]))
            averaged = True
        elif row:
            name = row[1].strip()
            if averaged and average_of(name) is None and not _SAMPLES.match(name):
                break
            averaged |= average_of(name) is not None
            rows.append((name, [row[2], row[3], row[4], row[5] or ""]))
        elif line.strip():
            break
        if accuracy or row:
            end = i + 1
    return end, rows


def _of_rows(
    rows: Sequence[tuple[str, list[str]]], totals: Totals, title: str
) -> tuple[Draft, list[str]]:
    reported: dict[str, str] = {}
    support: dict[str, int] = {}
    labels: list[str] = []
    sizes: list[str] = []
    notes: list[str] = []
    multilabel = False
    for name, values in rows:
        if name == ACCURACY.name and len(values) == 2:
            reported[ACCURACY.name] = values[0]
            sizes += [values[1]] if values[1] else []
            continue
        if _SAMPLES.match(name):
            multilabel = True
            notes.append(f"{title}: {name!r} is a mean over rows, which no counts decide")
            continue
        average = average_of(name) if labels else None
        label = safe_label(name)
        suffix = average or label
        for measure, text in zip(_COLUMNS, values, strict=False):
            if text.casefold() != "nan":
                reported[f"{measure.name}.{suffix}"] = text
        if average is not None:
            multilabel |= average == "micro"
            sizes += [values[3]] if values[3] else []
            continue
        if label in labels:
            raise InputError(f"{title}: the class {label!r} stands there twice")
        labels.append(label)
        rows_of = count_text(values[3])
        if rows_of is not None:
            support[label] = int(rows_of)
    if not labels:
        raise InputError(f"{title}: it has no row of a class under its headings")
    raw: dict[str, Any] = {**totals.shared(), "name": title, "reported": reported}
    return _finished(raw, labels, support, sizes, multilabel=multilabel), [
        *notes,
        (
            f"{title}: {len(labels)} {plural(len(labels), 'class', 'classes')}, {len(reported)} "
            f"{plural(len(reported), 'number', 'numbers')}"
        ),
    ]


def _finished(
    raw: dict[str, Any], labels: list[str], support: dict[str, int], sizes: Sequence[str], *,
    multilabel: bool,
) -> Draft:  # fmt: skip
    """A claim of all classes with its supports, and sums of them that are printed."""
    notes = []
    whole = len(support) == len(labels)
    if len(labels) > 1:
        raw["labels"] = labels
        raw["exhaustive"] = whole and not multilabel
        if len(labels) == 2 and "positive" not in raw:
            raw["positive"] = labels[1]
    if whole and len(labels) > 1:
        raw["support"] = support
        counts = list(dict.fromkeys(filter(None, map(count_text, sizes))))
        if counts:
            raw["n"] = counts[0]
            total = " + ".join(map(str, support.values()))
            raw["arithmetic"] = [{"expression": total, "reported": size} for size in counts[1:]]
    elif len(labels) > 1:
        raw.pop("support", None)
        notes.append("supports are no counts of rows, so that they were passed over")
    if multilabel:
        notes.append(
            "a micro average instead of an accuracy: rows may have several labels, or others than "
            "these, which is allowed for"
        )
    return Draft(raw, tuple(notes), by_program=True)


# -- output_dict -----------------------------------------------------------------------------------


def is_report_table(report: Any) -> bool:
    """Whether a JSON object is what ``output_dict=True`` gives."""
    if not isinstance(report, Mapping):
        return False
    rows = [row for row in report.values() if isinstance(row, Mapping)]
    wanted = {squeezed(text) for text in (PRECISION.name, RECALL.name, "f1-score")}
    return len(rows) > 1 and all(wanted <= set(map(squeezed, map(str, row))) for row in rows)


def table_claims(
    report: Mapping[str, Any], totals: Totals, title: str
) -> tuple[list[Draft], list[str]]:
    """The claim of a classification report that was kept as JSON."""
    rows: list[tuple[str, list[str]]] = []
    for name, row in report.items():
        if isinstance(row, Mapping):
            by_name = {squeezed(str(key)): value for key, value in row.items()}
            cells = [
                by_name.get(squeezed(text)) for text in (PRECISION.name, RECALL.name, "f1score")
            ]
            rows.append((name, [*map(short, cells), _count(by_name.get("support"))]))
        elif name == ACCURACY.name:
            rows.append((name, [short(row), ""]))
    draft, notes = _of_rows(rows, totals, f"{title}: classification report")
    return [draft], notes


def short(value: Any) -> str:
    """A number as text, with no more digits than a float is good for."""
    if value is None or isinstance(value, str):
        return "nan" if value is None else value
    number = Decimal(str(value))
    if not number.is_finite():
        return "nan"
    if len(number.as_tuple().digits) > _DIGITS:
        return f"{number:.{_DIGITS}g}"
    return str(number)


def _count(value: Any) -> str:
    if value is None:
        return ""
    number = Decimal(str(value))
    return str(int(number)) if number == number.to_integral_value() else str(number)


# -- documents of evaluations ----------------------------------------------------------------------


def evaluation_claims(document: Mapping[str, Any], title: str) -> tuple[list[Draft], list[str]]:
    """The claim of an ``assay.evaluation/1`` document: its own numbers against its own matrix."""
    labels = [str(label) for label in document.get("labels", ())]
    reported: dict[str, Any] = {}
    skipped = 0
    for each in document.get("estimates", ()):
        key = _estimate_key(each, labels)
        if key is None or each.get("slice") or each.get("base_rate") or each.get("value") is None:
            skipped += 1
            continue
        reported.setdefault(key, short(each["value"]))
    raw: dict[str, Any] = {"name": title, "reported": reported}
    matrix = document.get("confusion")
    if matrix and labels:
        raw |= {"labels": labels, "matrix": matrix, "n": sum(map(sum, matrix))}
    positive = document.get("positive")
    if positive is not None and len(labels) == 2:
        raw["positive"] = str(positive)
    notes = [
        (
            f"{title}: an evaluation of {len(labels)} classes, {len(reported)} "
            f"{plural(len(reported), 'number', 'numbers')}"
        )
    ]
    if skipped:
        notes.append(
            f"{title}: {skipped} estimates were passed over: undefined, of slices, at other base "
            f"rates, or of what no audit knows"
        )
    return [Draft(raw)], notes


def _estimate_key(each: Mapping[str, Any], labels: Sequence[str]) -> str | None:
    try:
        measure = find(str(each.get("measure")))
    except UnknownMeasure:
        return None
    if measure.formula is None and measure.classes is None and measure.bounds is None:
        return None
    suffix = each.get("average") or (each.get("label") if len(labels) > 1 else None)
    if suffix is not None and not each.get("average") and str(suffix) not in labels:
        return None
    suffix = None if suffix is None else str(suffix)
    if suffix is not None and not each.get("average") and safe_label(suffix) != suffix:
        return None
    return measure.name if suffix is None else f"{measure.name}.{suffix}"


# -- lines of values -------------------------------------------------------------------------------


def pair_claims(text: str, totals: Totals, title: str) -> tuple[list[Draft], list[str], str]:
    """Lines such as ``Accuracy: 0.95`` as one claim; a measure that comes again begins another."""
    drafts: list[Draft] = []
    rest: list[str] = []
    reported: dict[str, Any] = {}
    cells: dict[str, int] = {}
    positive: list[str] = []
    unmatched: list[str] = []
    if totals.aggregate is None and speaks_of_folds(text):
        totals = replace(totals, aggregate="fold-mean")

    def end() -> Iterator[Draft]:
        if reported:
            number = len(drafts) + 1
            name = f"{title}: values" if number == 1 else f"{title}: values {number}"
            raw: dict[str, Any] = {**totals.shared(), "name": name, "reported": dict(reported)}
            if cells:
                raw["confusion"] = dict(cells)
            if positive:
                raw["positive"] = positive[-1]
            yield Draft(raw, stated=bool(positive))
        reported.clear()
        cells.clear()

    for line in text.splitlines():
        pair = _PAIR.match(line)
        if pair is not None and squeezed(pair[1]) in ("positiveclass", "positive", "positivelabel"):
            positive.append(pair[2].strip(" '\""))
            continue
        heading = None if pair is None else heading_of(cleaned(pair[1]))
        entry = None if pair is None else entry_of(pair[2])
        if pair is not None and entry is not None and entry.number is not None:
            cell = cell_of(cleaned(pair[1]))
            if cell and count_text(pair[2]):
                cells[cell] = int(count_text(pair[2]) or 0)
                continue
            counted = are_counts([pair[2]], may_count=may_count(pair[1]))
            if heading is not None and heading.key is not None and not counted:
                suffix = heading.average or heading.label
                key = f"{heading.key}.{suffix}" if suffix else heading.key
                if key in reported:
                    drafts += end()
                sign = "%" if heading.percent and "%" not in entry.number else ""
                reported[key] = f"{entry.number}{sign}"
                continue
            unmatched.append(cleaned(pair[1]))
        rest.append(line)
    drafts += end()
    notes = [f"{title}: {len(drafts)} {'list' if len(drafts) == 1 else 'lists'} of values"]
    if unmatched:
        named = ", ".join(map(repr, dict.fromkeys(unmatched)))
        notes.append(f"{title}: not matched to any measure: {named}")
    notes = notes if drafts else []
    return drafts, notes, "\n".join(rest)
