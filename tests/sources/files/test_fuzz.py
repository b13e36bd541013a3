"""Files with bytes changed at random: read, or refused as ours, and never anything else."""

import random
from pathlib import Path

import pytest

from assay.errors import AssayError
from assay.sources.files import Request, read

from .writing import WRITERS, Columns

ROUNDS = 40
LABELS = ["normal", "attack", 'a "quoted", one', "é"]
TABLE: Columns = {
    "label": [LABELS[i % 4] for i in range(40)],
    "score": [i / 7 for i in range(40)],
    "k": [i % 3 for i in range(40)],
    "flag": [i % 5 == 0 for i in range(40)],
}


def mutated(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5])):
        # The ends hold most of what formats say about themselves.
        at = draw.choice(
            [
                draw.randrange(len(changed)),
                draw.randrange(min(len(changed), 200)),
                max(0, len(changed) - draw.randrange(1, 600)),
            ]
        )
        match draw.randrange(6):
            case 0 | 1:
                changed[at] = draw.randrange(256)
            case 2:
                changed[at] ^= 1 << draw.randrange(8)
            case 3:
                changed[at : at + 4] = b"\\xff\\xff\\xff\\x7f"
            case 4:
                del changed[at : at + draw.randrange(1, 20)]
            case 5:
                changed[at:at] = draw.randbytes(draw.randrange(1, 9))
        changed = changed or bytearray(b"x")
    return bytes(changed)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("format_", WRITERS)
def test_damage_is_read_or_refused(format_: str, tmp_path: Path) -> None:
    given = WRITERS[format_](tmp_path, TABLE)
    engine, _, rest = given.partition(":") if format_ in ("sqlite", "duckdb") else ("", "", given)
    source, mark, query = rest.partition("?") if engine else (rest, "", "")
    good = Path(source).read_bytes()
    suffix = "".join(Path(source).suffixes)
    outcomes = set()
    for seed in range(ROUNDS):
        draw = random.Random(f"{format_} {seed}")
        # A new name each time: a database may be remembered by its path.
        path = tmp_path / f"{seed}{suffix}"
        path.write_bytes(mutated(good, draw))
        request = Request(
            label=draw.choice(["label", "k"]),
            score="score",
            slices=("flag", "k"),
            cluster="label",
            on_bad_row=draw.choice(["stop", "skip"]),
            batch_rows=draw.choice([7, 1000]),
            chunk_bytes=draw.choice([64, 1 << 20]),
            max_memory=1 << 30,
        )
        try:
            read([f"{engine}:{path}{mark}{query}" if engine else str(path)], request)
            outcomes.add("read")
        except AssayError:
            outcomes.add("refused")
        path.unlink()
    assert "refused" in outcomes
