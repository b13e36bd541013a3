"""What a model says of rows, as columns to be counted: asked of it, and told by labels' names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LabelError, LengthMismatch, ScoreError
from assay.v02.evaluation.outputs import (
    DECISIONS,
    DETECTOR,
    PROBABILITY,
    Output,
    kind_of_model,
    library_of_model,
    outputs,
    role_of,
)
from assay.v02.evaluation.wording import listed, name
from assay.v02.number_text import rows
from assay.v02.sources.coded import Labels
from assay.v02.sources.columns import BOOLEAN, NUMBER, label_kind, label_text, labels_of, native
from assay.v02.sources.labelling import SEVERAL, Labelling, label_as, resolve, shown_labels
from assay.v02.sources.row_checks import SUM_TOLERANCE

Array: TypeAlias = npt.NDArray[Any]

_HALF = 0.5
# What a model that only tells usual rows from unusual ones decides for the latter.
_UNUSUAL = {"pyod": 1}


@dataclass(frozen=True, eq=False)
class Response:
    """What a model said of rows.

    ``probabilities`` have a column each of ``classes``; ``scores`` rank rows for the label ``of``,
    or for whichever is the alarm where that is None, which flags them from ``threshold`` on.
    ``untold`` is where the model does not say of which label they are, and ``of`` the last one.
    ``decisions`` are labels, ``flagged`` those of a detector that knows no labels. ``classes`` are
    texts of labels; None where the model does not tell them.
    """

    model: str
    classes: tuple[str, ...] | None
    probabilities: Array | None = None
    scores: Array | None = None
    of: str | None = None
    untold: bool = False
    threshold: float | None = None
    decisions: Labels | None = None
    flagged: Array | None = None
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many rows there are."""
        decided = None if self.decisions is None else self.decisions.codes
        columns = (self.probabilities, self.scores, self.flagged, decided)
        return next((len(column) for column in columns if column is not None), 0)

    def columns(
        self,
        truth: Labels,
        *,
        positive: Any = None,
        negative: Any = None,
        threshold: float | None = None,
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Columns as :func:`assay.evaluate` takes them, and what is to be noted.

        The model's own decisions are among them only where they differ from those at the threshold.
        """
        if self.size != len(truth.codes):
            raise LengthMismatch(
                f"{self.model} says something of {rows(self.size)}, and y has "
                f"{rows(len(truth.codes))}: they must be the same rows"
            )
        named = self._labels(truth)
        labels = [native(text, truth.kind) for text in named]
        sides = resolve(truth, None, positive=positive, negative=negative, labels=labels)
        common: dict[str, Any] = {"positive": positive, "negative": negative, "labels": labels}
        if sides.positive is None:
            if threshold is not None:
                raise ScoreError(SEVERAL)
            return self._of_many(truth, sides, common)
        return self._of_two(truth, sides, common, threshold)

    def _labels(self, truth: Labels) -> list[str]:
        """All labels that may occur: those of the rows, those that the model knows or decided."""
        learned = self.classes or ()
        more = () if self.decisions is None else self.decisions.names
        unknown = [text for text in truth.names if text not in learned]
        if learned and len(unknown) == len(truth.names):
            raise LabelError(
                f"{self.model} knows the classes {shown_labels(learned)}, and y holds "
                f"{shown_labels(truth.names, truth.kind)}: say classes= with the labels that its "
                f"classes stand for, in their order, or give y as it was when the model was fitted"
            )
        if unknown and self.probabilities is not None:
            raise LabelError(
                f"rows are labelled {listed([name(text) for text in unknown[:5]])}, which "
                f"{self.model} did not learn; it knows {shown_labels(learned)}. Leave those rows "
                f"out, or judge its decisions alone with response_method='predict'"
            )
        return list(dict.fromkeys([*learned, *truth.names, *more]))

    def _of_many(
        self, truth: Labels, sides: Labelling, common: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """More than two classes: a probability each, or decisions alone."""
        table, decided = self._table(sides.labels), self._decided(truth, sides)
        if table is None:
            if decided is None:
                raise InputError(
                    f"{self.model} gives one number a row, which ranks rows for one label, and "
                    f"there are {len(sides.labels)}: say positive= or negative="
                )
            why = "" if self.scores is None else ", whose scores rank no class against the others"
            note = f"only the decisions of {self.model} are judged{why}"
            return {**common, "y_pred": decided}, (*self.notes, note)
        columns = {native(text, truth.kind): table[:, i] for i, text in enumerate(sides.labels)}
        largest = table.argmax(axis=1)
        if decided is None or np.array_equal(_places(decided, sides), largest):
            return {**common, "y_proba": columns}, self.notes
        differ = int((_places(decided, sides) != largest).sum())
        note = (
            f"predict of {self.model} decides otherwise than the largest probability on "
            f"{rows(differ)}; its decisions are judged, and its probabilities rank"
        )
        return {**common, "y_proba": columns, "y_pred": decided}, (*self.notes, note)

    def _of_two(
        self, truth: Labels, sides: Labelling, common: Mapping[str, Any], threshold: float | None
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """One positive label: a score for it, and decisions where the threshold does not tell."""
        decided = self._decided(truth, sides)
        score, usual, notes = self._score(sides)
        if score is None:
            columns = dict(common) if threshold is None else {**common, "threshold": threshold}
            alone = f"only the decisions of {self.model} are judged: rows are not ranked"
            return {**columns, "y_pred": decided}, (*self.notes, *notes, alone)
        columns = {**common, "y_score": score}
        if threshold is not None or (decided is None and usual in (None, _HALF)):
            # Scores in [0, 1] are flagged from the usual threshold on without being told to.
            return {**columns, "threshold": threshold}, (*self.notes, *notes)
        if decided is None:
            return {**columns, "threshold": usual}, (*self.notes, *notes)
        flags = _places(decided, sides) == 1
        if usual is not None and np.array_equal(score >= usual, flags):
            return {**columns, "threshold": usual}, (*self.notes, *notes)
        if usual is not None:
            differ = rows(int(((score >= usual) != flags).sum()))
            note = (
                f"predict of {self.model} decides otherwise than the threshold {usual:g} on "
                f"{differ}; its decisions are judged, and its scores rank"
            )
            notes = (*notes, note)
        return {**columns, "y_pred": decided}, (*self.notes, *notes)

    def _score(self, sides: Labelling) -> tuple[Array | None, float | None, tuple[str, ...]]:
        """The score of the positive label, from where on it is flagged, and what is to be noted."""
        table = self._table(tuple(sides.position))
        if table is not None:
            of = [i for i, text in enumerate(sides.position) if sides.position[text] == 1]
            return np.ascontiguousarray(table[:, of].sum(axis=1).clip(0, 1)), _HALF, ()
        if self.scores is None:
            return None, None, ()
        if self.scores.ndim == 2:
            return self._one_of_many(self.scores, sides)
        in_range = bool(len(self.scores)) and self.scores.min() >= 0 and self.scores.max() <= 1
        usual = self.threshold
        if usual is None and in_range:
            usual = _HALF
        if self.of is None or sides.position.get(self.of) == 1:
            return self.scores, usual, ()
        if self.untold:
            negative, positive = (name(text) for text in sides.labels)
            raise LabelError(
                f"{self.model} gives one number a row and names no classes, so nothing tells "
                f"whether high numbers mean {positive} or {negative}. Say classes=[{negative}, "
                f"{positive}], or the other way round: the label of high numbers last"
            )
        note = (
            f"the scores of {self.model} are those of {name(self.of)}; they were turned over for "
            f"{name(str(sides.positive))}"
        )
        if usual == _HALF and in_range:
            return 1 - self.scores, usual, (note,)
        return -self.scores, None if usual is None else 0.0 - usual, (note,)

    def _one_of_many(
        self, scores: Array, sides: Labelling
    ) -> tuple[Array | None, float | None, tuple[str, ...]]:
        """The score of one class of several, where each has a column that decides."""
        positives = [text for text, place in sides.position.items() if place == 1]
        classes = self.classes or ()
        one_positive = len(positives) == 1 and positives[0] in classes
        if one_positive and self.decisions is not None and scores.shape[1] == len(classes):
            largest = scores.argmax(axis=1)
            place = {text: i for i, text in enumerate(classes)}
            codes = np.array([place.get(text, -1) for text in self.decisions.names])
            if np.array_equal(codes[self.decisions.codes], largest):
                return np.ascontiguousarray(scores[:, place[positives[0]]]), None, ()
        return None, None, (f"the scores of {self.model} are not those of one label each",)

    def decided_only(self, name: str) -> Response:
        """The decisions alone; ``name`` is what the model is called where there are several."""
        if self.decisions is None and self.flagged is None:
            raise InputError(
                f"model {name!r} gives no decisions, and another gives nothing else, so they have "
                f"nothing in common: compare models that all rank rows, or that all decide"
            )
        return replace(self, probabilities=None, scores=None)

    def widened(self, classes: Sequence[str] | None) -> Array | None:
        """The probabilities with a column for each of more classes."""
        return None if classes is None else self._table(classes)

    def _table(self, labels: Sequence[str]) -> Array | None:
        """A column a label; 0 for those that the model does not know."""
        if self.probabilities is None:
            return None
        place = {text: i for i, text in enumerate(self.classes or ())}
        table = np.zeros((len(self.probabilities), len(labels)))
        for i, text in enumerate(labels):
            if text in place:
                table[:, i] = self.probabilities[:, place[text]]
        return table

    def _decided(self, truth: Labels, sides: Labelling) -> Labels | None:
        """The decisions as labels, written as the truth writes them."""
        if self.flagged is None:
            return self.decisions
        if sides.positive is None:
            raise InputError(
                f"{self.model} tells usual rows from unusual ones, and y holds "
                f"{len(sides.labels)} labels: say positive= or negative="
            )
        names = [next(t for t, p in sides.position.items() if p == side) for side in (0, 1)]
        return Labels(self.flagged.astype(np.uint8), tuple(names), truth.kind)


def _places(decided: Labels, sides: Labelling) -> Array:
    table = np.array([sides.position[text] for text in decided.names], np.int64)
    return np.asarray(table[decided.codes])


def joined(parts: Sequence[Response]) -> Response:
    """What fits of one model said of the rows of their folds, as one response."""
    first = parts[0]
    if len(parts) == 1:
        return first
    classes, notes = None, [note for part in parts for note in part.notes]
    if all(part.classes is not None for part in parts):
        classes = tuple(dict.fromkeys(text for part in parts for text in part.classes or ()))
        missed = [text for text in classes if any(text not in (p.classes or ()) for p in parts)]
        if missed and first.probabilities is not None:
            notes.append(
                f"not every fit learned {listed([name(text) for text in missed[:5]])}: a fit gives "
                f"the probability 0 to a label that it did not learn"
            )
    scores = None
    if len({(part.of, _columns(part)) for part in parts}) == 1:
        scores = _stacked([part.scores for part in parts])
    elif all(part.decisions is not None for part in parts):
        notes.append("fits that learned unlike labels have scores that can't be ranked together")
    else:
        raise InputError(
            f"fits of {first.model} learned unlike labels, so their scores can't be ranked "
            f"together: give a cv= whose folds all have rows of each label to learn from"
        )
    return replace(
        first,
        classes=classes,
        probabilities=_stacked([part.widened(classes) for part in parts]),
        scores=scores,
        flagged=_stacked([part.flagged for part in parts]),
        decisions=_joined_labels([part.decisions for part in parts]),
        notes=tuple(dict.fromkeys(notes)),
    )


def _columns(part: Response) -> tuple[str, ...] | None:
    """The labels that scores have a column each of; None where there is one column."""
    return part.classes if part.scores is not None and part.scores.ndim == 2 else None


def _stacked(parts: Sequence[Array | None]) -> Array | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if len(present) == len(parts) else None


def _joined_labels(parts: Sequence[Labels | None]) -> Labels | None:
    present = [part for part in parts if part is not None]
    if len(present) < len(parts):
        return None
    names = list(dict.fromkeys(text for part in present for text in part.names))
    tables = [np.array([names.index(text) for text in part.names], np.intp) for part in present]
    codes = [table[part.codes] for table, part in zip(tables, present, strict=True)]
    return Labels(np.concatenate(codes), tuple(names), present[0].kind)


# -- asked of a model ------------------------------------------------------------------------------


def response_of(
    model: Any,
    X: Any,
    truth: Labels,
    *,
    response_method: str | None = None,
    classes: Sequence[Any] | None = None,
    logits: bool = False,
    decide: bool = True,
) -> Response:
    """What a model says of rows whose labels are these.

    ``classes`` are the labels that its classes stand for, where it does not know them by name.
    """
    output, decided = outputs(model, X, response_method, decide=decide)
    response = Response(_name(model), _classes(model, truth, classes))
    library = library_of_model(model)
    detects = kind_of_model(model) == DETECTOR or library == "pyod"
    if detects and decided is not None:
        response = replace(response, flagged=decided.values == _UNUSUAL.get(library or "", -1))
        response = replace(response, classes=None)
    elif decided is not None:
        response = _with_decisions(response, decided.values, truth)
    if output is None:
        return response
    if detects or output.low:
        return replace(response, **_of_detector(response, output))
    if logits:
        # What was decided by raw numbers is decided by probabilities at their own threshold.
        output = replace(output, values=_as_probabilities(output, response.model), threshold=None)
    elif output.values.ndim == 1 and library is None and not output.method:
        # A function may give scores or decisions.
        role, notes = role_of(output.values, truth, f"what {response.model} gives")
        response = replace(response, notes=notes)
        if role == DECISIONS:
            return _with_decisions(response, output.values, truth)
    if output.values.dtype.kind not in "iuf":
        return _with_decisions(response, output.values, truth)
    if output.values.ndim == 2:
        return _of_columns(response, output, truth)
    return _of_one_column(model, response, output, truth)


def _name(model: Any) -> str:
    """What a model is called: its class, of a pipeline with that of its last step."""
    own_name = str(getattr(model, "__name__", type(model).__name__))
    steps = getattr(model, "steps", None)
    return (
        f"{own_name}({type(steps[-1][1]).__name__})"
        if isinstance(steps, list) and steps
        else own_name
    )


def _classes(model: Any, truth: Labels, given: Sequence[Any] | None) -> tuple[str, ...] | None:
    """The labels that a model knows, written as the truth writes them."""
    classes = getattr(model, "classes_", None)
    if classes is not None and not hasattr(classes, "__len__"):
        classes = None
    if given is not None:
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise InputError(f"classes= is a list of labels; found {given!r}")
        texts = tuple(label_as(label, truth.kind, "classes") for label in given)
        if classes is not None and len(classes) != len(texts):
            raise InputError(
                f"classes= names {len(texts)} labels, and {_name(model)} knows {len(classes)} "
                f"classes: {shown_labels([str(label) for label in classes])}"
            )
        return texts
    if classes is None or not len(classes):
        return None
    return _written([label_text(label) for label in classes], label_kind(classes[0]), truth)


def _written(texts: Sequence[str], kind: str, truth: Labels) -> tuple[str, ...]:
    """The texts of labels; booleans beside 0 and 1 are written as the truth does."""
    table = {}
    if kind == BOOLEAN and truth.kind == NUMBER:
        table = {"false": "0", "true": "1"}
    elif kind == NUMBER and truth.kind == BOOLEAN:
        table = {"0": "false", "1": "true"}
    return tuple(table.get(text, text) for text in texts)


def _with_decisions(response: Response, values: Array, truth: Labels) -> Response:
    """The response with what was decided; codes of classes that were named get their names."""
    coded = labels_of(values, f"what {response.model} decides")
    names = _written(coded.names, coded.kind, truth)
    if response.classes is not None and not set(names) <= set(response.classes):
        codes = {str(i): text for i, text in enumerate(response.classes)}
        all_known = set(names) <= set(codes)
        names = tuple(codes[text] for text in names) if all_known else names
    return replace(response, decisions=Labels(coded.codes, names, truth.kind))


def _of_detector(response: Response, output: Output) -> dict[str, Any]:
    notes = response.notes
    if output.low:
        note = (
            f"{output.method} of {response.model} is low for unusual rows, so it was turned over: "
            f"higher is more suspicious"
        )
        notes = (*notes, note)
    return {"scores": output.values, "threshold": output.threshold, "notes": notes, "classes": None}


def _of_columns(response: Response, output: Output, truth: Labels) -> Response:
    """A column a class: probabilities where rows sum to 1, else what a classifier decides by."""
    classes, values = response.classes, output.values
    if output.threshold is not None and output.method:
        return replace(response, scores=values)
    total = values.sum(axis=1, dtype=np.float64)
    if not _sums_to_one(values):
        raise ScoreError(
            f"{response.model} gives {values.shape[1]} columns whose rows do not sum to 1, such as "
            f"{values[np.abs(total - 1).argmax()].tolist()}, so they are no probabilities. If they "
            f"are logits, say logits=True"
        )
    notes = response.notes
    if classes is None:
        ordered = sorted(truth.names, key=lambda t: int(t) if truth.kind == NUMBER else t)
        if len(ordered) != values.shape[1]:
            raise LabelError(
                f"{response.model} gives {values.shape[1]} columns, and y holds {len(ordered)} "
                f"labels, {shown_labels(ordered, truth.kind)}: say classes= with the label of each "
                f"column"
            )
        classes = tuple(ordered)
        note = (
            f"{response.model} names no classes, so its columns were taken in the order of the "
            f"labels: {shown_labels(classes, truth.kind)}; say classes= where it is another"
        )
        notes = (*notes, note)
    elif len(classes) != values.shape[1]:
        raise LabelError(
            f"{response.model} gives {values.shape[1]} columns, and there are {len(classes)} "
            f"classes, {shown_labels(classes)}: say classes= with the label of each column"
        )
    table = np.asarray(values, np.float64)
    if values.dtype != np.float64:
        table = table / total[:, None]
    return replace(response, probabilities=table, classes=classes, notes=notes)


def _of_one_column(model: Any, response: Response, output: Output, truth: Labels) -> Response:
    """One number a row: of which label, its classes tell, or the labels where they are 0 and 1."""
    classes = response.classes
    scores = np.asarray(output.values)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    if output.method == PROBABILITY and classes is not None and len(classes) == 1:
        return replace(response, probabilities=np.asarray(scores[:, None], np.float64))
    of, untold = None, False
    if classes is not None and len(classes) == 2:
        of = classes[1]
    elif set(truth.names) <= {"0", "1"} and truth.kind == NUMBER:
        of = "1"
    elif truth.kind == BOOLEAN:
        of = "true"
    elif output.method or library_of_model(model) is not None:
        # Encoders number labels in sorted order; whoever numbers by hand gives the alarm a 1.
        of, untold = max(truth.names), True
    return replace(response, scores=scores, of=of, untold=untold, threshold=output.threshold)


def _as_probabilities(output: Output, model: str) -> Array:
    """Logits as probabilities: one column by the sigmoid, several by softmax."""
    values = output.values
    if values.dtype.kind != "f":
        raise InputError(f"logits=True is for numbers; {model} gives {values.dtype}")
    logits = values.astype(np.float64)
    if logits.ndim == 1:
        return np.asarray(np.exp(-np.logaddexp(0, -logits)))
    if _sums_to_one(values):
        raise InputError(
            f"the columns of {model} sum to 1, so they are probabilities: leave logits=True out"
        )
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _sums_to_one(values: Array) -> bool:
    """Whether rows are probabilities; sums of narrow floats are off by their rounding."""
    if values.dtype.kind != "f" or values.min(initial=0) < 0 or values.max(initial=0) > 1:
        return False
    room = max(SUM_TOLERANCE, 4 * values.shape[1] * float(np.finfo(values.dtype).eps))
    return bool((np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= room).all())
