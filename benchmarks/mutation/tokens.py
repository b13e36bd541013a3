"""Single tokens of Python source that may be changed, and what into."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

_OPERATORS = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "**": "*", "%": "*",
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "&": "|", "|": "&", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=", "*=": "/=",
}  # fmt: skip
_NAMES = {
    "and": "or", "or": "and", "True": "False", "False": "True", "min": "max", "max": "min",
    "any": "all", "all": "any", "break": "continue", "continue": "break", "not": "",
    "minimum": "maximum", "maximum": "minimum", "floor": "ceil", "ceil": "floor",
    "argmin": "argmax", "argmax": "argmin",
}  # fmt: skip
_STRINGS = {'"left"': '"right"', '"right"': '"left"'}


@dataclass(frozen=True)
class Mutant:
    """A file with one token changed."""

    file: str  # below src
    line: int
    column: int
    old: str
    new: str
    source: str  # the line as it was

    @property
    def place(self) -> str:
        """Its file and line."""
        return f"{self.file}:{self.line}"

    @property
    def change(self) -> str:
        """What becomes what, and where in the line."""
        return f"{self.old} -> {self.new or 'nothing'} at {self.column}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others, wherever in its file the line stands."""
        return self.file, self.source.strip(), f"{self.old} -> {self.new or 'nothing'}"

    def text(self, original: str) -> str:
        """The whole file, changed."""
        lines = original.splitlines(keepends=True)
        line = lines[self.line - 1]
        end = self.column + len(self.old)
        assert line[self.column : end] == self.old, self
        lines[self.line - 1] = line[: self.column] + self.new + line[end:]
        return "".join(lines)

    def means_another(self, original: str) -> bool:
        """Whether the changed file is still Python, and another program."""
        try:
            changed = ast.parse(self.text(original))
        except SyntaxError:
            return False
        return ast.dump(changed) != ast.dump(ast.parse(original))


def mutants(source: Path, files: Sequence[Path], count: int, seed: int) -> list[Mutant]:
    """Some of all changes of some files, drawn without regard to what they do."""
    every = [mutant for path in files for mutant in candidates(source, path)]
    Random(seed).shuffle(every)
    texts = {mutant.file: (source / mutant.file).read_text("utf-8") for mutant in every}
    return list(islice((each for each in every if each.means_another(texts[each.file])), count))


def candidates(source: Path, path: Path) -> Iterator[Mutant]:
    """Every change of a file's tokens that is in no annotation, import or message."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    skipped = _skipped(ast.parse(text))
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    # What only ends a line within brackets stands between no two tokens.
    tokens = [token for token in tokens if token.type not in (tokenize.NL, tokenize.COMMENT)]
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        new = _changed(token)
        if (
            new is None
            or _parts_parameters(before, token, after)
            or any(start <= token.start < end for start, end in skipped)
        ):
            continue
        line, column = token.start
        name = str(path.relative_to(source))
        yield Mutant(name, line, column, token.string, new, lines[line - 1])


def _parts_parameters(
    before: tokenize.TokenInfo, token: tokenize.TokenInfo, after: tokenize.TokenInfo
) -> bool:
    """Whether it is the bare ``*`` or ``/`` of a list of parameters, which is no operator."""
    return token.string in ("*", "/") and before.string in ("(", ",") and after.string in (",", ")")


def _changed(token: tokenize.TokenInfo) -> str | None:
    if token.type == tokenize.OP:
        return _OPERATORS.get(token.string)
    if token.type == tokenize.NAME:
        return _NAMES.get(token.string)
    if token.type == tokenize.STRING:
        return _STRINGS.get(token.string)
    if token.type == tokenize.NUMBER and token.string.isdigit():
        return str(int(token.string) + 1)
    return None


def _skipped(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where a change means nothing: annotations, what only types see, and texts of errors."""
    nodes: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg):
            nodes.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes.append(node.returns)
        elif _means_nothing(node):
            nodes.append(node)
    return [
        ((one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset))  # type: ignore[attr-defined]
        for one in nodes
        if one is not None
    ]


def _means_nothing(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.dump(node.test)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in {"cast", "TypeVar"}
    if isinstance(node, ast.keyword):
        return node.arg in {"slots", "frozen", "kw_only", "strict", "maxsize"}
    kinds = (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert, ast.JoinedStr)
    return isinstance(node, kinds) or _names_a_type(node)


def _names_a_type(node: ast.AST) -> bool:
    """Whether it is an alias like ``Floats = npt.NDArray[np.float64] | None``."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp | ast.Subscript):
        return False
    (target, *_) = node.targets
    named = isinstance(target, ast.Name) and target.id[:1].isupper() and not target.id.isupper()
    return bool(named)
