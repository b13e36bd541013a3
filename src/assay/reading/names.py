"""Which column is what: by what was given, the keys of a known tool, names, and content.

Nothing is read here: the columns of a source and its first rows are enough.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from assay.errors import InputError, LabelError, MissingColumn
from assay.reading import moments, numbers, presets, words
from assay.reading.content import FEW, Column, Reading, scale_text, value_range
from assay.reading.well_known import (
    CLASSES,
    DECISION,
    LABEL,
    PATTERNS,
    PROBABILITY,
    SCORE,
    TIME,
    WELL_KNOWN,
    bare_name,
)

if TYPE_CHECKING:
    import polars as pl

# Any of these says what the detector found.
PREDICTION = "prediction"
ROLES = (LABEL, SCORE, DECISION, TIME, "probability")


_LISTED = 30


@dataclass(frozen=True)
class Recognised:
    """What the columns are: canonical names to the source's own, and how each is read.

    ``expressions`` make canonical columns of the source's. ``notes`` say what was understood, the
    line of columns first. ``unclear`` says what could not be told; ``refuse()`` raises it.
    """

    columns: Mapping[str, str]
    notes: tuple[str, ...] = ()
    unclear: str = ""
    expressions: Mapping[str, pl.Expr] = field(default_factory=dict)
    preset: str | None = None

    def refuse(self) -> None:
        """Raise an error if a needed column is unclear."""
        if self.unclear:
            raise InputError(self.unclear)


def recognise(
    schema: Mapping[str, pl.DataType],
    sample: pl.DataFrame,
    given: Mapping[str, str] | None = None,
    *,
    needed: Collection[str] = (LABEL, PREDICTION),
    wanted: Collection[str] = ROLES,
    reading: Reading | None = None,
) -> Recognised:
    """Tell which columns are what.

    ``given`` are canonical names with the columns that were named for them; they win. ``needed``
    are the roles without which the command can't go on, ``wanted`` those that may be found.

    >>> import polars as pl
    >>> sample = pl.DataFrame({"disposition": ["malicious", "benign"], "risk_score": ["97", "12"]})
    >>> recognise(sample.schema, sample).notes[0]
    "Using label='disposition' (attack: 'malicious'), score='risk_score' (0 to 100)"
    """
    search = _Search(schema, sample, reading or Reading())
    search.take_given(given or {})
    search.take_preset(wanted)
    search.take_names(wanted)
    search.take_content(wanted)
    return search.result(needed)


class _Search:
    """The search for columns, one step after another; what a step took, the next ones leave."""

    def __init__(
        self, schema: Mapping[str, pl.DataType], sample: pl.DataFrame, reading: Reading
    ) -> None:
        self.reading = reading
        self.schema = schema
        self.found = {
            name: Column(name, sample[name], reading, lambda: self.commas) for name in schema
        }
        self.columns: dict[str, str] = {}
        self.notes: list[str] = []
        self.asked: set[str] = set()
        self.tied: dict[str, list[str]] = {}
        self.barred: set[str] = set()
        self.preset: presets.Preset | None = None

    @cached_property
    def commas(self) -> bool:
        """Whether a column has decimal commas without a doubt."""
        import polars as pl

        texts = (c for c in self.found.values() if c.values.dtype == pl.String)
        return any(
            numbers.has_decimal_commas(column.texts)
            for column in texts
            if column.values.str.contains(",", literal=True).any()
        )

    @property
    def free(self) -> list[Column]:
        """The columns that are nothing yet."""
        taken = set(self.columns.values())
        return [column for name, column in self.found.items() if name not in taken]

    # -- the steps -----------------------------------------------------------------------------

    def take_given(self, given: Mapping[str, str]) -> None:
        """The columns that were named; behind other keys where there is only one."""
        for role, name in given.items():
            own = presets.path_column(name, self.found)
            if own is None:
                raise self._missing(role, name)
            self.columns[role] = own
            self.asked.add(role)

    def take_preset(self, wanted: Collection[str]) -> None:
        """The columns of a tool that was named, or whose keys leave no doubt."""
        asked = self.reading.preset
        for marks, reason in presets.UNSUITABLE:
            if not self.columns and all(presets.path_column(mark, self.found) for mark in marks):
                raise InputError(f"{self.reading.source} {reason}")
        self.preset = presets.find_preset(asked) if asked else presets.detect_preset(self.found)
        if self.preset is None:
            return
        taken = dict[str, str]()
        for role, own in presets.preset_columns(self.preset, self.found).items():
            if role in wanted and role not in self.columns and self._suits(role, self.found[own]):
                taken[role] = own
        if asked and not taken and not self.columns:
            paths = [path for names in self.preset.columns.values() for path in names]
            raise InputError(
                f"{self.reading.source} has no column of {self.preset.title} "
                f"({', '.join(paths[:5])}); {self._listed()}"
            )
        prediction = self._predicted()
        for role, own in taken.items():
            if not (role == SCORE and prediction):
                self.columns[role] = own
        self.barred = {role for role, paths in self.preset.columns.items() if not paths}
        how = "" if asked else f", as with preset={self.preset.name!r}"
        self.notes.append(f"Columns of {self.preset.title}{how}")

    def take_names(self, wanted: Collection[str]) -> None:
        """The columns with well-known names."""
        predicted = self._predicted()
        if LABEL in wanted and LABEL not in self.columns:
            self._take(LABEL)
        if not predicted:
            for role in (DECISION, SCORE):
                if role in wanted and role not in self.columns and role not in self.barred:
                    self._take(role)
            if "probability" in wanted and SCORE not in self.columns and LABEL in self.columns:
                self._take_probabilities()
            self._drop_confidence()
        if TIME in wanted and TIME not in self.columns:
            self._take(TIME)

    def take_content(self, wanted: Collection[str]) -> None:
        """What names don't decide: two labels, many numbers."""
        if LABEL in wanted and LABEL not in self.columns and LABEL not in self.tied:
            pairs = [
                c for c in self.free if len(c.labels) == 2 and c.is_category and not c.is_score
            ]
            known = [c for c in pairs if words.positive_of(c.labels)]
            worded = [c for c in known if not c.is_number]
            single = next((each for each in (worded, known, pairs) if each), [])
            if len(single) == 1:
                self.columns[LABEL] = single[0].name
        if self._predicted() or SCORE in self.tied or DECISION in self.tied:
            return
        if SCORE in wanted and SCORE not in self.barred:
            many = [c for c in self.free if c.is_score and not c.is_count and not self._is_time(c)]
            # Other whole numbers may be ports, sizes or numbers of tickets.
            single = [c for c in many if c.has_fractions] or [c for c in many if c.is_points]
            if len(single) == 1 and not single[0].style.doubt:
                self.columns[SCORE] = single[0].name
                return
        if DECISION in wanted and LABEL in self.columns and DECISION not in self.barred:
            labels = set(self.found[self.columns[LABEL]].labels)
            alike = [c for c in self._plain() if set(c.labels) <= labels]
            if len(alike) == 1:
                self.columns[DECISION] = alike[0].name

    def _plain(self) -> list[Column]:
        """The free columns of labels, but for those that say what is harmless."""
        return [
            column
            for column in self.free
            if column.is_category
            and column.repeats
            and not words.names_the_harmless(column.name, column.labels)
        ]

    # -- names ---------------------------------------------------------------------------------

    def _take(self, role: str) -> None:
        """The column with the surest name for a role; several that are as sure are a tie."""
        ranked: dict[tuple[int, int], list[Column]] = {}
        for column in self.free:
            rank = self._rank(role, column)
            if rank is not None and self._suits(role, column, sure=rank[0] < 2 + (role == SCORE)):
                ranked.setdefault(rank, []).append(column)
        if not ranked:
            return
        best = ranked[min(ranked)]
        same = all(column.values.equals(best[0].values) for column in best)
        if len(best) == 1 or same or role == TIME:
            self.columns[role] = best[0].name
        else:
            self.tied[role] = [column.name for column in best]

    def _rank(self, role: str, column: Column) -> tuple[int, int] | None:
        """How sure a name is: its place in the table, and how many outer keys are left away."""
        parts = column.name.split(".")
        for away in range(len(parts)):
            bare = bare_name("".join(parts[away:]))
            if not bare or (away and bare != bare_name(parts[-1]) and away != len(parts) - 2):
                continue
            if away and self._is_inner(role, parts):
                continue
            if role == DECISION and bare == LABEL and LABEL not in self.columns:
                continue
            tiers = [bare in names for names in WELL_KNOWN[role]]
            tiers[0] |= role in PATTERNS and PATTERNS[role].fullmatch(bare) is not None
            if any(tiers):
                return tiers.index(True), min(away, 1)
        bare = bare_name(parts[-1])
        harmless = words.names_the_harmless(bare.removesuffix("probability"), ())
        if role == SCORE and bare.endswith(("score", "probability", "proba")) and not harmless:
            return 1, 1
        if role == DECISION and column.is_score:
            return None
        if role == SCORE and PATTERNS[DECISION].fullmatch(bare) and column.is_score:
            return 1, 1
        return None

    def _is_inner(self, role: str, parts: Sequence[str]) -> bool:
        """Whether outer keys make the last one of another role, as in prediction.label."""
        full = bare_name("".join(parts[-2:]))
        if any(PATTERNS[other].fullmatch(full) for other in PATTERNS if other != role):
            return True
        return any(full in tiers[0] for other, tiers in WELL_KNOWN.items() if other != role)

    def _suits(self, role: str, column: Column, *, sure: bool = True) -> bool:
        """Whether the values fit a role; an unsure name needs known words too."""
        if not column.texts:
            return sure  # there is no value to contradict the name
        if role == LABEL:
            known = words.positive_of(column.labels) is not None
            inverse = words.names_the_harmless(column.name, column.labels)
            unsure = known and not column.is_score and column.repeats and not inverse
            return column.is_category and (sure or unsure)
        if role == DECISION:
            if not column.is_category or (column.is_score and len(column.texts) > FEW):
                return False
            tier = self._rank(DECISION, column)
            return tier is None or tier[0] == 0 or self._can_decide(column)
        if role == SCORE:
            ordinal = column.ranks is not None
            rank = self._rank(SCORE, column)
            only_words = self.preset is None and rank is not None and rank[0] > 1
            return ordinal or (column.is_number and not only_words)
        return role != TIME or self._is_time(column)

    def _can_decide(self, column: Column) -> bool:
        """Whether values are labels, or words that are known as decisions."""
        label = self.columns.get(LABEL)
        labels = {words.folded(name) for name in self.found[label].labels} if label else set()
        folded = {words.folded(name) for name in column.labels}
        flagged = {words.folded(name) for name in self.reading.alarm}
        return (
            folded <= labels
            or bool(folded & flagged)
            or all(words.side(name) is not None for name in column.labels)
        )

    def _is_time(self, column: Column) -> bool:
        layout = moments.time_layout(column.values, self.reading.time_format)
        return not layout.doubt or layout.two_readings

    def _take_probabilities(self) -> None:
        """One column of probabilities a class, by the labels in their names."""
        labels = {words.word(name): name for name in self.found[self.columns[LABEL]].labels}
        for pattern in CLASSES:
            found = {
                match[1]: column
                for column in self.free
                if (match := pattern.match(column.name)) and column.is_number
            }
            classes = {words.word(name): (name, column) for name, column in found.items()}
            if not labels or not labels.keys() <= classes.keys():
                continue
            if pattern is CLASSES[-1]:
                classes = {key: classes[key] for key in labels}
            inside = all(
                bool(column.numbers.is_between(0, 1).all()) for _, column in classes.values()
            )
            if len(labels) > 1 and inside:
                for key, (name, column) in classes.items():
                    self.columns[PROBABILITY + labels.get(key, name)] = column.name
                self.tied.pop(SCORE, None)
                return
        positive = words.positive_of(list(labels.values()))
        for pattern in CLASSES[:-1]:
            for column in self.free:
                match = pattern.match(column.name)
                if (
                    match
                    and positive
                    and words.word(match[1]) == words.word(positive)
                    and column.is_number
                ):
                    self.columns[SCORE] = column.name
                    self.tied.pop(SCORE, None)
                    return

    def _drop_confidence(self) -> None:
        """Leave out a score that is of the predicted label: it does not rank attacks."""
        if SCORE not in self.columns or DECISION not in self.columns:
            if DECISION in self.columns and SCORE in self.tied:
                tied = ", ".join(map(repr, self.tied.pop(SCORE)))
                self.notes.append(f"No score is used: it could be {tied}. Say score=")
            return
        score, decision = self.found[self.columns[SCORE]], self.found[self.columns[DECISION]]
        sides = self.reading.positive or self.reading.negative
        label = self.found.get(self.columns.get(LABEL, ""))
        if label and len(label.labels) > 2 and not sides and not words.positive_of(label.labels):
            del self.columns[SCORE]
            self.notes.append(
                f"Column {score.name!r} is not used as the score: there are {len(label.labels)} "
                f"labels. Say negative= to rank by it"
            )
            return
        if len(decision.labels) != 2 or not len(score.numbers):
            return
        low, high = value_range(score.numbers)
        if low >= 0.5 and high <= 1:
            del self.columns[SCORE]
            self.notes.append(
                f"Column {score.name!r} is not used as the score: it is never below 0.5, so it "
                f"seems to be the confidence in the decision. Say score={score.name!r} if not"
            )

    def _predicted(self) -> bool:
        return any(r.partition(":")[0] in (SCORE, DECISION, "probability") for r in self.columns)

    # -- the result ----------------------------------------------------------------------------

    def result(self, needed: Collection[str]) -> Recognised:
        """What was found, or why it is not enough."""
        unclear = self._unclear(needed)
        expressions: dict[str, pl.Expr] = {}
        facts: dict[str, str] = {}
        if not unclear:
            for role, own in list(self.columns.items()):
                expression, facts[role] = self._read(role, self.found[own])
                if expression is not None:
                    expressions[role] = expression.alias(role)
        shown = [
            f"{role}={self.columns[role]!r}" + (f" ({facts[role]})" if facts.get(role) else "")
            for role in self.columns
            if role in facts
        ]
        order = [LABEL, DECISION, SCORE]
        shown.sort(
            key=lambda text: order.index(role) if (role := text.partition("=")[0]) in order else 3
        )
        line = [f"Using {', '.join(shown)}"] if shown else []
        return Recognised(
            dict(self.columns),
            tuple(dict.fromkeys([*line, *self.notes])),
            unclear,
            expressions,
            self.preset.name if self.preset else None,
        )

    def _read(self, role: str, column: Column) -> tuple[pl.Expr | None, str]:
        """How a column is read, and what to say of it."""
        name, kind = column.name, self.schema[column.name]
        if role == LABEL:
            return words.label_column(name, kind, column.texts), self._sides(column)
        if role == DECISION:
            return words.label_column(name, kind, column.texts), self._alarms(column)
        if role == TIME:
            return self._time(column)
        if role == SCORE and column.ranks is not None:
            ranks = column.ranks
            present = {words.folded(text) for text in column.texts}
            highest_first = sorted(present, key=lambda text: -ranks[text])
            titles = {words.folded(text): text for text in column.texts}
            told = " > ".join(titles[text] for text in highest_first)
            return words.rank_column(name, ranks), told
        if role == "count" and not column.style.doubt:
            return numbers.whole_column(name, column.style), ""
        if role in (SCORE, "weight", "count") or role.startswith(PROBABILITY):
            if column.style.doubt:
                refusal = numbers.doubt_refused(name, column.style.doubt)
                if role in self.asked or DECISION not in self.columns:
                    raise refusal
                del self.columns[role]
                self.notes.append(f"No score is used: {refusal}")
                return None, ""
            if column.style.decimal == ",":
                self.notes.append("Numbers are read with decimal commas")
            told = scale_text(column) if role == SCORE else ""
            return numbers.number_column(name, column.style), told
        return None, ""

    def _sides(self, column: Column) -> str:
        """Which label is the alarm, as far as it is known."""
        positive, negative = self._given_sides()
        if negative is not None:
            return f"harmless: {negative!r}"
        positive = positive or words.positive_of(column.labels, column.name)
        if positive is not None:
            return f"attack: {positive!r}"
        if words.names_the_harmless(column.name, column.labels):
            note = words.harmless_note(column.name, column.labels)
            self.notes.append(note[:1].upper() + note[1:])
        return f"{len(column.labels)} classes" if len(column.labels) > 2 else ""

    def _given_sides(self) -> tuple[str | None, str | None]:
        return self.reading.positive, self.reading.negative

    def _alarms(self, column: Column) -> str:
        """Which decisions are the alarm, where they are written unlike labels."""
        if LABEL not in self.columns:
            return ""
        label = self.found[self.columns[LABEL]]
        labels = label.labels
        positive, negative = self._given_sides()
        if words.names_the_harmless(column.name, column.labels) and not self.reading.alarm:
            note = words.harmless_note(column.name, column.labels, "alarm")
            self.notes.append(note[:1].upper() + note[1:])
            return ""
        if words.names_the_harmless(label.name, labels) and positive is negative is None:
            return ""
        if positive is None and negative is not None:
            positive = f"not {negative}"
        try:
            matched = words.match_decisions(
                labels,
                column.labels,
                positive=positive,
                negative=negative,
                alarm=self.reading.alarm,
            )
        except LabelError:
            return ""  # more labels may come with further rows; these are judged on the sum
        if not matched.note:
            return ""
        self.notes.append(matched.note)
        alarm = positive or words.positive_of(labels)
        flagged = [name for name, label in matched.labels.items() if label == alarm]
        return f"alarm: {', '.join(map(repr, flagged))}" if flagged else ""

    def _time(self, column: Column) -> tuple[pl.Expr | None, str]:
        layout = moments.time_layout(column.values, self.reading.time_format)
        if layout.doubt:
            refusal = moments.doubt_refused(column.name, layout, column.texts)
            if TIME in self.asked or self.reading.time_format:
                raise refusal
            del self.columns[TIME]
            self.notes.append(f"No time is used: {refusal}")
            return None, ""
        if layout.name in (moments.DAY_FIRST, moments.MONTH_FIRST):
            self.notes.append(f"Times are read with the {layout.name}")
        return moments.time_column(column.name, self.schema[column.name], layout), ""

    # -- refusals ------------------------------------------------------------------------------

    def _unclear(self, needed: Collection[str]) -> str:
        """Why a needed column can't be told, with the call that would work."""
        lacks_label = LABEL in needed and LABEL not in self.columns
        lacks_prediction = PREDICTION in needed and not self._predicted()
        label = self.found.get(self.columns.get(LABEL, ""))
        inverse = LABEL in needed and label and words.names_the_harmless(label.name, label.labels)
        sides = {"positive": self.reading.positive, "negative": self.reading.negative}
        options = {role: own for role, own in self.columns.items() if role in self.asked}
        options |= {name: side for name, side in sides.items() if side is not None}
        sided = len(options) > len(self.asked)
        if not lacks_label and not lacks_prediction and (sided or not inverse):
            return ""
        missing = []
        if lacks_label:
            missing.append("the labels" + self._perhaps(LABEL))
            label = self._likely(LABEL, [c for c in self._plain() if len(c.labels) > 1])
        if label:
            options = {**options, LABEL: label.name}
        if lacks_prediction:
            ties = self._perhaps(SCORE) + self._perhaps(DECISION)
            missing.append(f"the scores or decisions{ties}")
            others = [c for c in self.free if c is not label]
            score = self._likely(SCORE, [c for c in others if c.is_score and not c.is_count])
            decision = self._likely(
                DECISION, [c for c in self._plain() if c is not label and len(c.labels) > 1]
            )
            if found := score or decision:
                options[SCORE if score else DECISION] = found.name
            complete = bool(label and (score or decision))
        else:
            options |= {r: own for r, own in self.columns.items() if r in (SCORE, DECISION)}
            complete = label is not None
        if label and not sided and len(label.labels) == 2:
            positive = words.positive_of(label.labels)
            if inverse or positive is None:
                options["positive"] = next(name for name in label.labels if name != positive)
        if not missing:
            what = f"column {self.columns[LABEL]!r} says which rows are harmless"
            advice = "Say which label is the attack"
        else:
            what = f"can't tell which column has {' and which has '.join(missing)}"
            advice = "Name them"
        call = f", for example:\n  {self.reading.typed(options)}" if complete else ""
        if lacks_prediction and label and words.is_triage(label.labels) and self.reading.command:
            only = {role: own for role, own in options.items() if role not in (SCORE, DECISION)}
            call = f", or if each row is an alert:\n  {self.reading.typed(only)} --alerts-only"
        return f"{self.reading.source}: {what}. {self._listed()}. {advice}{call}"

    def _likely(self, role: str, columns: Sequence[Column]) -> Column | None:
        """The column that a role would likely have: a tied one, else one of few labels."""
        tied = self.tied.get(role, ())

        def unlikely(column: Column) -> tuple[bool, int]:
            return column.name not in tied, 0 if role == SCORE else len(column.labels)

        return min(columns, key=unlikely, default=None)

    def _perhaps(self, role: str) -> str:
        tied = self.tied.get(role, ())
        return f" ({' or '.join(map(repr, tied))})" if tied else ""

    def _listed(self) -> str:
        names = list(self.found)
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return f"Its columns are {', '.join(map(repr, names[:_LISTED]))}{more}"

    def _missing(self, role: str, name: str) -> MissingColumn:
        near = difflib.get_close_matches(name, self.found, 1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        return MissingColumn(
            f"{self.reading.source} has no column {name!r} for the {role}.{meant} {self._listed()}",
            name,
        )
