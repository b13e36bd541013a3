"""Mutations of bytes and of text."""

from __future__ import annotations

from random import Random

_INTEGERS = (0, 1, -1, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1)
PIECES = (
    b"", b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\t", b" ", b'"',
    b'""', b"'", b"\\", b",", b";", b":", b"|", b"{", b"}", b"[", b"]", b"(", b")", b"<", b"=",
    b"-", b"%", b"#", b"$", b"&", b"&&", b"@", b"?", b"/", b"..", b"null", b"nan", b"inf", b"-inf",
    b"1e309", b"1e-400", b"-0", b"0x10", b"1_0", b"9" * 25, b"9" * 400, b"0" * 30, b"1e999999999",
    b"true", b"\xc3\xa9", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xe2\x80\xae",
    b"\x1b[31m", b"\x1b]0;x\x07", b"\\ud800", b"\\u0000", b"[" * 300, b"{" * 300, b"A" * 5000,
    b"label", b"score", b"\xe2\x80\xa8", b"\x85", b"\x0b", b"\x0c", b"\x1a", b"\xd9\xa3",
)  # fmt: skip


def damaged(draw: Random, data: bytes) -> bytes:
    """The bytes with one to six of them, or of their runs, changed."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        _damage(draw, changed)
    return bytes(changed)


def _damage(draw: Random, changed: bytearray) -> None:
    size = len(changed)
    # The ends hold most of what a format says of itself.
    at = draw.choice((draw.randrange(size + 1), draw.randrange(min(size, 200) + 1)))
    if draw.random() < 0.25:
        at = max(size - draw.randrange(600), 0)
    many = draw.choice((1, 2, 4, 8, 30, 200))
    kind = draw.randrange(10)
    if kind <= 1 and at < size:
        changed[at] = draw.randrange(256)
    elif kind == 2 and at < size:
        changed[at] ^= 1 << draw.randrange(8)
    elif kind == 3:
        width = draw.choice((1, 2, 4, 8))
        number = draw.choice(_INTEGERS) % (1 << 8 * width)
        changed[at : at + width] = number.to_bytes(width, draw.choice(("little", "big")))
    elif kind == 4:
        del changed[at : at + many]
    elif kind == 5:
        changed[at:at] = draw.randbytes(many)
    elif kind == 6:
        changed[at:at] = changed[at : at + many] * draw.choice((1, 1, 3, 40))
    elif kind == 7 and draw.random() < 0.4:
        del changed[at:]
    elif kind == 8 and size:
        source = draw.randrange(size)
        changed[at : at + many] = changed[source : source + many]
    else:
        changed[at : at + draw.choice((0, 0, 1, 3))] = draw.choice(PIECES)


def damaged_text(draw: Random, text: bytes) -> bytes:
    """Text with pieces put in, and lines and fields moved about, doubled or left out."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        kind = draw.randrange(8)
        lines = text.split(b"\n")
        i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
        if kind == 0:
            lines[i], lines[j] = lines[j], lines[i]
        elif kind == 1:
            lines.insert(i, lines[j])
        elif kind == 2:
            del lines[i]
        elif kind == 3:
            sign = draw.choice((b",", b"\t", b" ", b"|", b":", b'"', b"=", b"&"))
            fields = lines[i].split(sign)
            k = draw.randrange(len(fields))
            fields[k : k + draw.choice((0, 1, 1))] = [draw.choice(PIECES)]
            lines[i] = sign.join(fields)
        elif kind == 4:
            lines[i] = lines[i] + draw.choice((b"\r", b",", b" ", b"\0", b'"'))
        elif kind == 5:
            old, new = draw.choice(PIECES), draw.choice(PIECES)
            lines[i] = lines[i].replace(old or b",", new)
        else:
            at = draw.randrange(len(lines[i]) + 1)
            cut = draw.choice((0, 0, 1, 2))
            lines[i] = lines[i][:at] + draw.choice(PIECES) + lines[i][at + cut :]
        text = b"\n".join(lines)
    return text
