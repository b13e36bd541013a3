"""E017: rows that name their incident are not independent."""

from pathlib import Path

import pytest

from assay import Request, evaluate_files

ROWS = "attack,0.9,a,h1\nattack,0.8,a,h2\nnormal,0.1,,h1\nnormal,0.2,,h2\n"


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    path = tmp_path / "flows.csv"
    path.write_text(f"label,score,incident,host\n{ROWS}")
    return path


def codes(path: Path, **columns: str) -> set[str]:
    return {finding.code for finding in evaluate_files(path, Request(**columns)).findings}


def test_rows_of_incidents_are_told(flows: Path) -> None:
    assert "E017" in codes(flows)


def test_a_column_of_another_name_has_to_be_named(flows: Path) -> None:
    flows.write_text(f"label,score,campaign,host\n{ROWS}")
    assert "E017" not in codes(flows)
    assert "E017" in codes(flows, incident="campaign")


def test_clusters_keep_such_rows_together(flows: Path) -> None:
    assert "E017" not in codes(flows, cluster="host")
    flows.write_text(flows.read_text().replace(",,h1", ",one,h1").replace(",,h2", ",two,h2"))
    assert "E017" not in codes(flows, cluster="incident")
