"""Rows that are kept with a run: labels, what models said, and ids where there are any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import LengthMismatch
from assay.sources.coded import LabelDigest, Labels
from assay.sources.columns import labels_of
from assay.tally import codec

Array: TypeAlias = npt.NDArray[Any]

KIND = "rows"


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Judged rows in their order: the truth, and what each model said of them.

    ``scores`` and ``decisions`` are by the name of the model; ``ids`` are texts, or None where rows
    have no names but their place. ``positive`` is the label that is the alarm, where one is.

    >>> rows = KeptRows.of(["attack", "normal"], scores={"m": [0.9, 0.2]}, ids=["a", "b"])
    >>> KeptRows.from_bytes(rows.to_bytes()).ids
    ('a', 'b')
    """

    truth: Labels
    scores: Mapping[str, Array] = field(default_factory=dict)
    decisions: Mapping[str, Labels] = field(default_factory=dict)
    ids: tuple[str, ...] | None = None
    positive: str | None = None

    @classmethod
    def of(
        cls,
        y_true: Any,
        *,
        scores: Mapping[str, Any] | None = None,
        decisions: Mapping[str, Any] | None = None,
        ids: Sequence[Any] | None = None,
        positive: str | None = None,
    ) -> KeptRows:
        """Rows from columns of any kind."""
        truth = y_true if isinstance(y_true, Labels) else labels_of(y_true, "y_true")
        said = {name: np.asarray(column) for name, column in (scores or {}).items()}
        decided = {
            name: column if isinstance(column, Labels) else labels_of(column, "y_pred")
            for name, column in (decisions or {}).items()
        }
        names = None if ids is None else tuple(map(str, ids))
        sizes = {len(truth.codes), *map(len, said.values())}
        sizes |= {len(each.codes) for each in decided.values()}
        sizes |= set() if names is None else {len(names)}
        if len(sizes) > 1:
            raise LengthMismatch(f"rows to keep have columns of {sorted(sizes)} rows")
        return cls(truth, said, decided, names, positive)

    def __len__(self) -> int:
        return len(self.truth.codes)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that said something of the rows."""
        return (*self.scores, *self.decisions)

    @property
    def test_set(self) -> str:
        """The digest of the labels in their order."""
        digest = LabelDigest()
        digest.add(self.truth)
        return digest.hexdigest()

    def to_bytes(self) -> bytes:
        """The rows as bytes; the same rows give the same bytes."""
        header: dict[str, Any] = {
            "labels": list(self.truth.names),
            "kind": self.truth.kind,
            "positive": self.positive,
            "scores": list(self.scores),
            "decisions": [
                {"model": name, "labels": list(said.names), "kind": said.kind}
                for name, said in self.decisions.items()
            ],
            "ids": self.ids is not None,
        }
        arrays: dict[str, Array] = {"truth": _small(self.truth)}
        for i, score in enumerate(self.scores.values()):
            narrow = score.dtype == np.float32
            arrays[f"score {i}"] = score.astype(np.float32 if narrow else np.float64, copy=False)
        for i, said in enumerate(self.decisions.values()):
            arrays[f"decision {i}"] = _small(said)
        if self.ids is not None:
            encoded = [name.encode("utf-8", "surrogatepass") for name in self.ids]
            arrays["id lengths"] = np.array([len(each) for each in encoded], np.uint32)
            arrays["ids"] = np.frombuffer(b"".join(encoded), np.uint8)
        return codec.write(KIND, header, arrays)

    @staticmethod
    def from_bytes(data: bytes) -> KeptRows:
        """The rows that :meth:`to_bytes` wrote."""
        rows = codec.from_bytes(data)
        if not isinstance(rows, KeptRows):
            raise LengthMismatch(f"these bytes hold no kept rows but {type(rows).__name__}")
        return rows


def _small(labels: Labels) -> Array:
    return labels.codes.astype(np.uint8 if len(labels.names) <= 256 else np.uint32, copy=False)


@codec.reads(KIND)
def _read(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> KeptRows:
    def labels(names: Any, kind: Any, codes: Array) -> Labels:
        if len(codes) and int(codes.max()) >= len(names):
            raise ValueError("a label has no name")
        return Labels(codes, tuple(map(str, names)), str(kind))

    ids = None
    if header["ids"]:
        ends = np.cumsum(arrays["id lengths"], dtype=np.int64).tolist()
        text = arrays["ids"].tobytes()
        if (ends[-1] if ends else 0) != len(text):
            raise ValueError("ids do not fit their lengths")
        starts = [0, *ends[:-1]]
        ids = tuple(
            text[i:j].decode("utf-8", "surrogatepass") for i, j in zip(starts, ends, strict=False)
        )
    return KeptRows.of(
        labels(header["labels"], header["kind"], arrays["truth"]),
        scores={str(name): arrays[f"score {i}"] for i, name in enumerate(header["scores"])},
        decisions={
            str(said["model"]): labels(said["labels"], said["kind"], arrays[f"decision {i}"])
            for i, said in enumerate(header["decisions"])
        },
        ids=ids,
        positive=header["positive"],
    )
