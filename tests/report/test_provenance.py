"""How a document came about: the commit without git, the time, and no secrets."""

from pathlib import Path

import pytest

from assay.cli.reporting import without_secrets
from assay.report.provenance import Provenance, commit_of, now

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def repository(folder: Path, head: str) -> Path:
    git = folder / ".git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "HEAD").write_text(head)
    return git


def test_the_commit_of_a_branch_is_read_from_its_file(tmp_path: Path) -> None:
    git = repository(tmp_path, "ref: refs/heads/main\n")
    (git / "refs/heads/main").write_text(f"{COMMIT}\n")
    (tmp_path / "deep/er").mkdir(parents=True)
    assert commit_of(tmp_path / "deep/er") == COMMIT


def test_a_packed_branch_and_a_bare_commit_are_read_too(tmp_path: Path) -> None:
    git = repository(tmp_path, "ref: refs/heads/main\n")
    (git / "packed-refs").write_text(
        f"# pack-refs\n{'f' * 40} refs/heads/other\n{COMMIT} refs/heads/main\n"
    )
    assert commit_of(tmp_path) == COMMIT
    (git / "HEAD").write_text(COMMIT)
    assert commit_of(tmp_path) == COMMIT


def test_a_worktree_names_the_folder_of_its_repository(tmp_path: Path) -> None:
    git = repository(tmp_path / "main", "ref: refs/heads/main\n")
    (git / "refs/heads/side").write_text(COMMIT)
    own = git / "worktrees/side"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    (own / "commondir").write_text("../..\n")
    (tmp_path / "side").mkdir()
    (tmp_path / "side/.git").write_text(f"gitdir: {own}\n")
    assert commit_of(tmp_path / "side") == COMMIT


@pytest.mark.parametrize("head", ["", "ref: refs/heads/none\n", "nonsense", "\0"])
def test_what_is_no_commit_is_none(tmp_path: Path, head: str) -> None:
    repository(tmp_path, head)
    assert commit_of(tmp_path) is None


def test_the_time_is_that_of_the_epoch_where_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert now() == "1970-01-01T00:00:00Z"
    assert Provenance.here(seconds=3.5).seconds is None
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert now() > "2024"
    assert Provenance.here(seconds=3.5).seconds == 3.5
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "9" * 30)
    assert now() > "2024"


@pytest.mark.parametrize(
    "typed",
    [
        "assay evaluate postgresql://me:secret@host/db?select",
        "assay evaluate 'postgresql://host/db?password=secret&query'",
        'assay evaluate "postgresql://host/db?user=x&PASSWORD=secret"',
        "assay evaluate postgresql://secret@host/db",
    ],
)
def test_no_secret_is_kept(typed: str) -> None:
    assert "secret" not in without_secrets(typed)
    assert "host/db" in without_secrets(typed)
