"""The rows themselves, for what counts can't give: paired scores and clustered rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec
from assay.tally.scores import ScoreTally

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of label, one score a model, cluster and count, in one canonical order.

    ``truth`` holds positions in ``labels``, ``cluster`` positions in ``clusters`` (all zero where
    there are none), ``counts`` how often the row occurs. Equal rows are one row.
    """

    labels: tuple[str, ...]
    models: tuple[str, ...]
    clusters: tuple[str, ...]
    truth: Array
    scores: npt.NDArray[np.float64]
    cluster: Array
    counts: npt.NDArray[np.int64]

    @classmethod
    def zero(cls, labels: Sequence[str], models: Sequence[str]) -> Sample:
        """The sample of no rows."""
        return cls.of_rows(labels, np.empty(0, np.uint16), {m: np.empty(0) for m in models})

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        truth: Array,
        scores: Mapping[str, Array],
        *,
        cluster: Array | None = None,
        clusters: Sequence[str] = (),
        counts: npt.NDArray[np.int64] | None = None,
    ) -> Sample:
        """Keep rows; ``cluster`` is a position in ``clusters``."""
        size = len(truth)
        columns = np.array([np.asarray(s) for s in scores.values()], np.float64)
        return _canonical(
            tuple(labels),
            tuple(scores),
            list(clusters),
            truth.astype(np.uint16),
            columns.reshape(len(scores), size).T + 0.0,
            np.zeros(size, np.int64) if cluster is None else cluster.astype(np.int64),
            np.ones(size, np.int64) if counts is None else counts,
        )

    def __add__(self, other: Sample) -> Sample:
        if not isinstance(other, Sample):
            return NotImplemented
        if (self.labels, self.models) != (other.labels, other.models):
            raise TallyError(
                f"samples of unlike labels or models can't be added: {list(self.labels)} "
                f"{list(self.models)} and {list(other.labels)} {list(other.models)}"
            )
        if self.size and other.size and bool(self.clusters) != bool(other.clusters):
            raise TallyError("a sample with clusters and one without can't be added")
        return _canonical(
            self.labels,
            self.models,
            [*self.clusters, *other.clusters],
            np.concatenate([self.truth, other.truth]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.cluster, other.cluster + len(self.clusters)]),
            np.concatenate([self.counts, other.counts]),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @property
    def size(self) -> int:
        """How many distinct rows there are."""
        return len(self.truth)

    def score_tally(self, model: int) -> ScoreTally:
        """The score tally of one model."""
        return ScoreTally.of_rows(
            self.labels, self.scores[:, model], self.truth, counts=self.counts
        )

    def to_bytes(self) -> bytes:
        """The rows as bytes; :func:`assay.tally.from_bytes` reads them."""
        header = {"labels": self.labels, "models": self.models, "clusters": self.clusters}
        arrays = {
            "truth": self.truth,
            "scores": self.scores,
            "cluster": self.cluster,
            "counts": self.counts,
        }
        return codec.write("sample", header, arrays)


@codec.reads("sample")
def sample_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Sample:
    """A sample from its header and arrays."""
    labels, models, clusters = (
        [str(name) for name in header[key]] for key in ("labels", "models", "clusters")
    )
    rows = len(arrays["truth"])
    truth, scores, cluster, counts = (
        arrays[name] for name in ("truth", "scores", "cluster", "counts")
    )
    if scores.shape != (rows, len(models)) or cluster.shape != (rows,) or counts.shape != (rows,):
        raise ValueError(f"columns of unlike length for {rows} rows")
    if [a.dtype.str for a in (truth, scores, cluster, counts)] != ["<u2", "<f8", "<i8", "<i8"]:
        raise ValueError("columns of an unknown kind")
    beyond = (truth >= len(labels)).any() or (cluster < 0).any() or (counts < 0).any()
    if beyond or (cluster >= max(len(clusters), 1)).any() or not np.isfinite(scores).all():
        raise ValueError("labels, clusters, scores or counts are out of range")
    return _canonical(
        tuple(labels),
        tuple(models),
        clusters,
        truth,
        scores,
        cluster,
        counts,
    )


def _canonical(
    labels: tuple[str, ...],
    models: tuple[str, ...],
    clusters: list[str],
    truth: Array,
    scores: Array,
    cluster: Array,
    counts: Array,
) -> Sample:
    """Rows sorted by cluster, label and scores; equal rows added; what is not used left out."""
    held = counts > 0
    truth, scores, cluster, counts = truth[held], scores[held], cluster[held], counts[held]
    if clusters:
        used = [clusters[i] for i in np.unique(cluster)]
        distinct = sorted(set(used))
        position = {name: i for i, name in enumerate(distinct)}
        renumber = np.array([position.get(name, -1) for name in clusters], np.int64)
        cluster = renumber[cluster]
    else:
        distinct = []
        cluster = np.zeros(len(truth), np.int64)
    order = np.lexsort((*scores.T[::-1], truth, cluster))
    truth, scores, cluster, counts = truth[order], scores[order], cluster[order], counts[order]
    if len(truth):
        changed = (
            (truth[1:] != truth[:-1])
            | (cluster[1:] != cluster[:-1])
            | (scores[1:] != scores[:-1]).any(axis=1)
        )
        starts = np.flatnonzero(np.concatenate(([True], changed)))
        counts = np.add.reduceat(counts, starts)
        truth, scores, cluster = truth[starts], scores[starts], cluster[starts]
    return Sample(labels, models, tuple(distinct), truth, scores, cluster, counts)
