"""Rules are read as they are meant, or refused with the place and what was expected there."""

import string

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from assay.decisions.rule import Outcome, Rule
from assay.decisions.rule_grammar import parse_rule
from assay.errors import InputError
from assay.inference.threshold_rules import AtThreshold, MaxFar, MaxFpr
from assay.measures import CATALOGUE

# -- what is read ----------------------------------------------------------------------------------


def test_the_rules_of_the_contract_are_read() -> None:
    one = parse_rule("new(precision@base-rate=0.001) >= 0.5")
    assert (one.subject, one.measure.name, one.base_rate) == ("new", "precision", 0.001)
    assert (one.operator, one.bound, one.at) == (">=", 0.5, None)
    two = parse_rule("new-old(detection_rate@max-far=0.1) >= -0.01")
    assert (two.subject, two.measure.name, two.at) == ("new-old", "recall", MaxFar(0.1))
    assert two.bound == -0.01
    assert two.text == "new-old(detection_rate@max-far=0.1) >= -0.01"


@pytest.mark.parametrize(
    "text",
    [
        "new-old(f1)>=0",
        "new - old ( f1 ) >= 0",
        "new -old(f1) >= 0",
        "new- old(f1)\n>= 0",
        "  new-old(f1) ≥ 0  ",
        "new-old(f_measure) >= +0",
        "new-old(f1) >= 0/7",
        "new-old(f1) >= 0%",
    ],
)
def test_blanks_aliases_and_ways_to_write_a_number_do_not_matter(text: str) -> None:
    rule = parse_rule(text)
    assert (rule.subject, rule.measure.name) == ("new-old", "f1")
    assert (rule.operator, rule.bound) == (">=", 0.0)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.5", 0.5),
        ("50%", 0.5),
        ("1/100", 0.01),
        ("-0.01", -0.01),
        ("−0.01", -0.01),  # noqa: RUF001 - a minus sign, as word processors write it
        ("- 0.01", -0.01),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("2.5e-1/0.5", 0.5),
        ("-1/3", -1 / 3),
    ],
)
def test_numbers_are_decimals_percents_and_ratios(written: str, value: float) -> None:
    assert parse_rule(f"new-old(recall) < {written}").bound == value


@pytest.mark.parametrize(
    ("condition", "at", "base_rate"),
    [
        ("threshold=0.7", AtThreshold(0.7), None),
        ("threshold=-3", AtThreshold(-3.0), None),
        ("max-fpr=1/1000", MaxFpr(0.001), None),
        ("max_fpr=0.1%", MaxFpr(0.001), None),
        ("max-far=10%, base-rate=1e-4", MaxFar(0.1, 1e-4), 1e-4),
        ("base-rate=1e-4,max-far=10%", MaxFar(0.1, 1e-4), 1e-4),
        ("base-rate=0.01", None, 0.01),
    ],
)
def test_conditions_set_the_point_and_the_base_rate(
    condition: str, at: object, base_rate: float | None
) -> None:
    rule = parse_rule(f"new(recall@{condition}) >= 0.5")
    assert (rule.at, rule.base_rate) == (at, base_rate)


def test_a_measure_may_be_of_a_label_or_an_average() -> None:
    assert parse_rule("new(f0.5.macro) > 0").average == "macro"
    assert parse_rule("new(f0.5.macro) > 0").measure.name == "f0.5"
    assert parse_rule("new(precision.normal) > 0").label == "normal"
    assert parse_rule('new(precision."brute force, \\"ssh\\"") > 0').label == 'brute force, "ssh"'
    quoted = parse_rule("new(precision.'macro') > 0")
    assert (quoted.label, quoted.average) == ("macro", None)


def test_families_are_named_quoted_or_all() -> None:
    assert parse_rule("new(recall@family=dos) > 0").family == "dos"
    assert parse_rule("new(miss_rate@family='a b') < 1").family == "a b"
    every = parse_rule("new(recall@family=*) > 0")
    assert (every.family, every.every_family) == (None, True)
    star = parse_rule('new(recall@family="*") > 0')
    assert (star.family, star.every_family) == ("*", False)


def test_figures_of_a_day_have_a_volume() -> None:
    rule = parse_rule("new(alerts_per_day@volume=1e6,base-rate=0.001) <= 50")
    assert (rule.measure, rule.per_day, rule.volume) == (None, True, 1e6)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", 1, "expected new(...), old(...) or new-old(...), found the end"),
        ("nwe(f1) >= 0", 1, "did you mean new"),
        ("old-new(f1) >= 0", 1, "turn the rule around"),
        ("new f1 >= 0", 1, "expected new(...)"),
        ("new[f1] >= 0", 1, "expected new(...)"),
        ("new(precison) >= 0.5", 5, "did you mean precision"),
        ("new(detection-rate) >= 0.5", 5, "did you mean detection_rate"),
        ("new() >= 0.5", 5, "expected a measure"),
        ("new(f1 >= 0.5", 8, "expected ')'"),
        ("new(f1)", 8, "expected one of >=, >, <= and <, found the end"),
        ("new(f1) == 0.5", 9, "expected one of >=, >, <= and <"),
        ("new(f1) >= ", 11, "expected a number"),
        ("new(f1) >= half", 12, "expected a number such as 0.5, 50%, -0.01 or 1/100"),
        ("new(f1) >= 1/0", 12, "no finite number"),
        ("new(f1) >= nan", 12, "expected a number"),
        ("new(f1) >= 1e999", 12, "no finite number"),
        ("new(f1) >= 0.5 and", 16, "expected nothing after the number"),
        ("new(f1@) >= 0.5", 8, "expected one of threshold, max-far"),
        ("new(f1@max-fra=0.1) >= 0.5", 8, "max-far?"),
        ("new(f1@max-far) >= 0.5", 15, "expected '=' after max-far"),
        ("new(f1@max-far=0) >= 0.5", 16, "between 0 and 1"),
        ("new(f1@base-rate=120%) >= 0.5", 18, "between 0 and 1"),
        ("new(f1@max-far=0.1,) >= 0.5", 20, "expected one of threshold"),
        ("new(f1@max-far=0.1,max-far=0.2) >= 0.5", 20, "given twice"),
        ("new(f1@max-far=0.1,threshold=1) >= 0.5", 20, "two ways to set one threshold"),
        ("new(roc_auc@threshold=1) >= 0.5", 13, "at all thresholds"),
        ("new(roc_auc.macro) >= 0.5", 5, "no average"),
        ("new(accuracy.macro) >= 0.5", 5, "no average"),
        ("new(precision@family=dos) >= 0.5", 15, "detection_rate and miss_rate"),
        ("new(recall.normal@family=dos) >= 0.5", 19, "detection_rate and miss_rate"),
        ("new(f1@volume=1e6) >= 0.5", 8, "volume is for alerts_per_day"),
        ("new(alerts_per_day) <= 50", 5, "@volume=1000000"),
        ("new(alerts_per_day@volume=0) <= 50", 27, "above 0"),
        ("new(f1.macro@base-rate=0.1) <= 50", 14, "not of an average"),
        ("new(precision@max-far=0.1) >= 0.9", 15, "could not fail"),
        ("new(false_alarm_rate@base-rate=0.1,max-far=0.1) <= 0.1", 36, "could not fail"),
        ("new(fpr@max-fpr=0.1) <= 0.1", 9, "could not fail"),
        ('new(recall@family="a) >= 0', 19, "expected a family"),
        ("new(f1) >= 0.5; drop", 12, "expected a number"),
        ("__import__('os') >= 0", 1, "expected new(...)"),
    ],
)
def test_an_odd_rule_is_refused_with_the_place(text: str, place: int, said: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_rule(text)
    assert f"at character {place} " in str(refused.value)
    assert said in str(refused.value)


def test_a_very_long_rule_is_refused_and_not_printed() -> None:
    with pytest.raises(InputError, match="at most 2000 characters") as refused:
        parse_rule("new(f1) >= " + "1" * 5000)
    assert len(str(refused.value)) < 200


def test_something_else_than_text_is_refused() -> None:
    with pytest.raises(InputError, match="found int"):
        parse_rule(3)  # type: ignore[arg-type]


@given(st.text(st.sampled_from("newold(f1@,=.*)><\"'\\ 0%-/e" + "recallmax-far"), max_size=40))
@example("new-old-old(f1) > 0")
@example('new(recall."')
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    try:
        assert isinstance(parse_rule(text), Rule)
    except InputError as refused:
        assert "character" in str(refused)  # noqa: PT017 - either way is right


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "new(recall) >= 70",
            "could not hold, whatever the model; did you mean 0.7, which is",
        ),
        ("new(far) <= 5", "could not fail, whatever the model; did you mean 0.05, which is 5%?"),
        ("new(recall) >= -0.5", "could not fail, whatever the model; did you mean the difference"),
        ("new(recall) > 1", "lies between 0 and 1, so the rule could not hold"),
        ("new(recall) < 0", "lies between 0 and 1, so the rule could not hold"),
        ("new(mcc) >= -1.5", "mcc lies between -1 and 1, so the rule could not fail"),
        (
            "new-old(recall) >= -5",
            "the difference of recall lies between -1 and 1, so",
        ),
        ("new-old(recall) >= -5", "did you mean -0.05, which is -5%?"),
        (
            "new-old(mcc) <= -3",
            "the difference of mcc lies between -2 and 2, so",
        ),
        ("new(log_loss) >= -1", "log_loss lies between 0 and "),
        ("new(alerts_per_day@volume=1000) <= 2000", "lies between 0 and 1000, so the rule could"),
    ],
)
def test_a_bound_that_no_model_or_every_model_keeps_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_rule(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "new(recall) >= 70%",
        "new(recall) >= 0.7",
        "new(recall) >= 1",
        "new(recall) >= 0",
        "new-old(recall) >= -0.5",
        "new-old(mcc) >= -1.5",
        "new(positive_likelihood_ratio) >= 70",
        "new(log_loss) <= 2",
    ],
)
def test_a_bound_that_some_model_keeps_is_a_rule(text: str) -> None:
    assert parse_rule(text).text == text


# -- a rule as text --------------------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
COUNTED = [m.name for m in CATALOGUE if m.formula is not None and not m.averages]


@given(
    subject=st.sampled_from(["new", "old", "new-old"]),
    measure=st.sampled_from(COUNTED),
    label=st.none() | NAMES,
    operator=st.sampled_from([">=", ">", "<=", "<"]),
    bound=st.floats(-1, 1) | st.floats(-1e6, 1e6),
    rate=st.none() | st.floats(1e-6, 0.999),
    threshold=st.none() | st.floats(-1e6, 1e6),
)
def test_the_canonical_text_reads_as_the_same_rule(
    subject: str,
    measure: str,
    label: str | None,
    operator: str,
    bound: float,
    rate: float | None,
    threshold: float | None,
) -> None:
    rule = Rule(
        subject,
        measure,
        parse_rule(f"new({measure}) > 0").measure,
        operator,
        bound,
        label=label,
        base_rate=rate,
        at=None if threshold is None else AtThreshold(threshold),
    )
    assume(rule.decided is None)
    again = parse_rule(rule.canonical())
    for name in ("subject", "measure", "label", "operator", "bound", "base_rate", "at"):
        assert getattr(again, name) == getattr(rule, name)


@given(NAMES)
def test_a_rule_for_each_family_names_any_family(family: str) -> None:
    one = parse_rule("new(recall@max-far=0.1,family=*) >= 0.5").of_family(family)
    again = parse_rule(one.text)
    assert (again.family, again.every_family, again.at) == (family, False, MaxFar(0.1))


# -- outcomes --------------------------------------------------------------------------------------

NAN = float("nan")


@pytest.mark.parametrize(
    ("operator", "low", "high", "outcome"),
    [
        (">=", 0.5, 0.6, "pass"),
        (">=", 0.4, 0.5, "undecided"),
        (">=", 0.4, 0.49, "fail"),
        (">", 0.5, 0.6, "undecided"),
        (">", 0.4, 0.5, "fail"),
        (">", 0.51, 0.6, "pass"),
        ("<=", 0.4, 0.5, "pass"),
        ("<=", 0.5, 0.6, "undecided"),
        ("<=", 0.51, 0.6, "fail"),
        ("<", 0.4, 0.5, "undecided"),
        ("<", 0.5, 0.6, "fail"),
        ("<", 0.4, 0.49, "pass"),
        (">=", 0.5, 0.5, "pass"),
        (">", 0.5, 0.5, "fail"),
        (">=", NAN, NAN, "undecided"),
        (">=", 0.6, NAN, "undecided"),
    ],
)
def test_the_bound_itself_belongs_to_one_side(
    operator: str, low: float, high: float, outcome: str
) -> None:
    assert parse_rule(f"new(f1) {operator} 0.5").outcome(low, high) == outcome


@given(
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    bounds=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    strict=st.booleans(),
)
def test_a_stricter_bound_never_turns_fail_into_pass(
    ends: list[float], bounds: list[float], strict: bool
) -> None:
    order = [Outcome.FAIL, Outcome.UNDECIDED, Outcome.PASS]
    operator = ">" if strict else ">="
    lenient, stricter = (
        Rule("new", "f1", None, operator, bound).outcome(*ends) for bound in bounds
    )
    assert order.index(stricter) <= order.index(lenient)


def test_every_letter_of_a_plain_name_needs_no_quotes() -> None:
    name = string.ascii_letters + string.digits + "_-./:+#&"
    assert parse_rule(f"new(recall@family={name}) > 0").family == name
