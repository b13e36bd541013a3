"""The tables of a store, as numbered steps from nothing to the newest.

A step is never changed once it was released: a store of any earlier version takes the steps that it
lacks. What SQLite and PostgreSQL write differently stands in braces.

``content``   bytes by their SHA-256: documents, tallies, kept rows; the same bytes once
``runs``      what a list shows and filters by, and which content belongs to the run
``tags``      words that people give to runs
``measures``  names of what is followed over time, each once
``points``    the estimates of a run by measure, for trends
"""

from __future__ import annotations

from assay.errors import StoreError

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE content (
            sha256 {text} PRIMARY KEY,
            size BIGINT NOT NULL,
            packing {text} NOT NULL,
            data {bytes} NOT NULL
        ){clustered}""",
        """CREATE TABLE runs (
            seq {number},
            id {text} NOT NULL UNIQUE,
            name {text} NOT NULL,
            kind {text} NOT NULL,
            made {text} NOT NULL,
            headline {text} NOT NULL,
            gate {text},
            test_set {text},
            level DOUBLE PRECISION,
            note {text} NOT NULL,
            document {text} NOT NULL REFERENCES content (sha256),
            tally {text} REFERENCES content (sha256),
            kept_rows {text} REFERENCES content (sha256)
        )""",
        "CREATE INDEX runs_made ON runs (made, seq)",
        "CREATE INDEX runs_name ON runs (name, made, seq)",
        "CREATE INDEX runs_kind ON runs (kind, made, seq)",
        "CREATE INDEX runs_gate ON runs (gate, made, seq) WHERE gate IS NOT NULL",
        # Whether content is still needed is asked when a run is deleted.
        "CREATE INDEX runs_document ON runs (document)",
        "CREATE INDEX runs_tally ON runs (tally) WHERE tally IS NOT NULL",
        "CREATE INDEX runs_kept_rows ON runs (kept_rows) WHERE kept_rows IS NOT NULL",
        """CREATE TABLE tags (
            run BIGINT NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
            tag {text} NOT NULL,
            PRIMARY KEY (run, tag)
        ){clustered}""",
        "CREATE INDEX tags_tag ON tags (tag, run)",
        """CREATE TABLE measures (
            id {number},
            measure {text} NOT NULL UNIQUE
        )""",
        """CREATE TABLE points (
            run BIGINT NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
            measure BIGINT NOT NULL REFERENCES measures (id),
            value DOUBLE PRECISION NOT NULL,
            low DOUBLE PRECISION,
            high DOUBLE PRECISION,
            n DOUBLE PRECISION,
            PRIMARY KEY (run, measure)
        ){clustered}""",
    ),
)
NEWEST = len(STEPS)


def must_be_known(version: int, place: str) -> None:
    """Refuse a store that a newer assay made."""
    if version > NEWEST:
        raise StoreError(
            f"the store {place} has version {version}, made by a newer assay; this one reads "
            f"versions up to {NEWEST}. Install the newer one; the store was left as it is"
        )


def lacking(version: int, place: str) -> list[str]:
    """The statements that a store of a version lacks; a newer store is refused."""
    must_be_known(version, place)
    return [statement for step in STEPS[version:] for statement in step]
