"""Which column is what: named, recognised, ambiguous, missing."""

import io
from typing import Any

import pytest

from assay.errors import InputError
from assay.sources.files import Request, Rows, read


def rows_of(header: str, row: str, **asked: Any) -> Rows:
    return read(["-"], Request(**asked), stdin=io.BytesIO(f"{header}\n{row}\n".encode()))


@pytest.mark.parametrize("label", ["label", "y_true", "truth", "class", "target", "Label", "CLASS"])
@pytest.mark.parametrize("score", ["score", "y_score", "prob", "probability", "Score"])
def test_well_known_names_are_recognised(label: str, score: str) -> None:
    rows = rows_of(f"id,{score},{label}", "7,0.5,a")
    assert rows.chosen == {"label": label, "score": score}
    assert rows.columns["y_score"].tolist() == [0.5]


@pytest.mark.parametrize("decision", ["y_pred", "prediction", "decision"])
def test_a_decision_is_recognised(decision: str) -> None:
    rows = rows_of(f"label,{decision}", "a,b")
    assert rows.chosen == {"label": "label", "decision": decision}
    assert rows.columns["y_pred"].names == ("b",)


def test_a_score_and_a_decision_are_both_taken_where_neither_is_named() -> None:
    rows = rows_of("label,prob,prediction", "a,0.5,b")
    assert rows.chosen == {"label": "label", "score": "prob", "decision": "prediction"}


def test_where_the_score_is_named_no_decision_is_guessed() -> None:
    rows = rows_of("label,prob,prediction", "a,0.5,b", score="prob")
    assert rows.chosen == {"label": "label", "score": "prob"}


def test_where_the_decision_is_named_no_score_is_guessed() -> None:
    rows = rows_of("label,prob,prediction", "a,0.5,b", decision="prediction")
    assert rows.chosen == {"label": "label", "decision": "prediction"}


def test_where_probabilities_are_named_nothing_else_is_guessed() -> None:
    rows = rows_of("label,score,y_pred,p", "a,3,b,0.5", probabilities={"a": "p"})
    assert rows.chosen == {"label": "label"}
    assert rows.columns["y_proba"]["a"].tolist() == [0.5]


def test_several_candidates_are_listed() -> None:
    with pytest.raises(InputError, match=r"several columns may be the label: 'truth', 'class'"):
        rows_of("truth,class,score", "a,b,1")
    with pytest.raises(InputError, match=r"the score: 'score', 'prob'. Say which with score="):
        rows_of("label,score,prob", "a,1,2")


def test_a_column_with_another_role_is_no_candidate() -> None:
    rows = rows_of("label,class,score", "a,b,1", slices=("class",))
    assert rows.chosen["label"] == "label"
    rows = rows_of("label,score,prob", "a,1,2", weight="score")
    assert rows.chosen["score"] == "prob"


def test_a_message_tells_what_a_column_was_said_to_be() -> None:
    with pytest.raises(InputError, match="Column 'prob' is the weight, as was said"):
        rows_of("label,prob", "a,1", weight="prob")
    with pytest.raises(InputError, match="'label' can't be the label and the count at once"):
        rows_of("label,prob", "1,0.5", count="label")
    many = "\n".join(f"{'ab'[i % 2]},{i}" for i in range(1500))
    with pytest.raises(InputError, match=r"too many for decisions: that is a score \(say score=\)"):
        rows_of("label,p", many, decision="p")


def test_columns_are_listed_where_none_is_known() -> None:
    with pytest.raises(InputError, match=r"standard input.*labels.*label=.*'a', 'score'"):
        rows_of("a,score", "x,1")
    with pytest.raises(InputError, match=r"what the model said.*score=.*'label', 'b'"):
        rows_of("label,b", "x,1")


def test_the_nearest_names_are_suggested() -> None:
    with pytest.raises(InputError, match=r"no column 'lable'; did you mean 'label'\?"):
        rows_of("label,score", "a,1", label="lable")
    with pytest.raises(InputError, match=r"no column 'Score'; did you mean ' score'\?"):
        rows_of("label, score", "a,1", score="Score")


def test_of_many_columns_some_are_listed() -> None:
    names = ",".join(f"c{i}" for i in range(100))
    with pytest.raises(InputError, match=r"'c29' and 70 more"):
        rows_of(names, ",".join("1" * 100))


def test_a_pattern_names_the_probabilities() -> None:
    rows = rows_of("label,p_a,p_b_x,q", "a,0.25,0.75,9", probability_pattern="p_*")
    assert {k: v.tolist() for k, v in rows.columns["y_proba"].items()} == {
        "a": [0.25],
        "b_x": [0.75],
    }
    rows = rows_of("label,p[a],p[b]", "a,0.25,0.75", probability_pattern="p[*]")
    assert list(rows.columns["y_proba"]) == ["a", "b"]


@pytest.mark.parametrize("pattern", ["p_a", "p_*_*", "q_*"])
def test_a_pattern_that_names_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match=r"one star|no column matches"):
        rows_of("label,p_a", "a,1", probability_pattern=pattern)


def test_the_labels_of_probabilities_are_of_the_kind_that_the_labels_are() -> None:
    data = b'{"label": 1, "p_0": 0.25, "p_1": 0.75}\n'
    rows = read(["-"], Request(probability_pattern="p_*"), stdin=io.BytesIO(data))
    assert list(rows.columns["y_proba"]) == [0, 1]


def test_a_score_and_probabilities_are_not_both_read() -> None:
    with pytest.raises(InputError, match="not both"):
        rows_of("label,s,p", "a,1,1", score="s", probabilities={"a": "p"})


def test_slices_families_counts_weights_and_clusters_are_read() -> None:
    rows = rows_of(
        "label,score,site,kind,n,w,host",
        "a,1,x,y,3,0.5,z",
        slices=("site",),
        family="kind",
        count="n",
        weight="w",
        cluster="host",
    )
    assert {name: part.names for name, part in rows.columns["slices"].items()} == {
        "site": ("x",),
        "kind": ("y",),
    }
    assert rows.family == "kind"
    assert rows.columns["counts"].tolist() == [3]
    assert rows.columns["sample_weight"].tolist() == [0.5]
    assert rows.columns["clusters"].names == ("z",)
    assert rows.chosen["cluster"] == "host"


def test_a_column_may_have_two_roles() -> None:
    rows = rows_of("label,score", "a,1", slices=("label",), family="label", cluster="label")
    assert rows.columns["slices"]["label"].names == ("a",)
    assert rows.columns["clusters"].names == ("a",)


def test_a_further_file_needs_the_columns_of_the_first(tmp_path: Any) -> None:
    (tmp_path / "a.csv").write_text("label,prob\na,1\n")
    (tmp_path / "b.csv").write_text("label,score\na,1\n")
    with pytest.raises(InputError, match=r"b.csv has no column 'prob', which .*a.csv has"):
        read([str(tmp_path)], Request())


def test_clusters_may_be_many() -> None:
    data = "label,score,host\n" + "".join(f"a,1,{i}\n" for i in range(3000))
    rows = read(["-"], Request(cluster="host"), stdin=io.BytesIO(data.encode()))
    clusters = rows.columns["clusters"]
    assert len(clusters.names) == 3000
    assert clusters.codes.dtype == "uint16"
