"""Small changes of a module, each of which a test should notice."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
}
OPPOSITES = [
    ("min", "max"),
    ("minimum", "maximum"),
    ("fmin", "fmax"),
    ("argmin", "argmax"),
    ("any", "all"),
    ("floor", "ceil"),
    ("zeros", "ones"),
    ("zeros_like", "ones_like"),
]
SWAPPED = {a: b for pair in OPPOSITES for a, b in (pair, pair[::-1])}

WORDS_ONLY = {"warn"}  # calls that only say something: they are dropped, what they say is not changed
SPEED_ONLY = {"stacklevel", "strict", "copy", "dtype", "out"}  # keywords that no result depends on

LIMITS = re.compile(r"_(\w*_)?(ELEMENTS|BYTES|SAMPLES|OPERATIONS|PROBES|TILE_ROWS|TILE_COLUMNS|DUAL_FROM|SEED)")
"""Names of limits from which on another way to the same result is taken, and of seeds."""


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes from ``start`` to ``end`` of a module become ``text``."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    text: str

    def applied(self, source: bytes) -> bytes:
        """The module with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def shown(self, source: bytes) -> str:
        """The change in one line."""
        before = " ".join(source[self.start : self.end].decode().split())
        return f"{self.path}:{self.line} {self.kind}: {before} → {self.text}"


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """All changes of a module, from top to bottom.

    Annotations, decorators, docstrings, messages and other texts stay as they are, and limits for speed.
    """
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = []
    for node, kind, text in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        found.append(Mutant(path, node.lineno, kind, start, end, text))
    return found


Change = tuple[ast.AST, str, str]


def _changes(node: ast.AST) -> Iterator[Change]:
    yield from _changes_of(node)
    for child in _children(node):
        yield from _changes(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What is looked at below a node: code that computes, not what describes it."""
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or _called(node.value) in WORDS_ONLY):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and LIMITS.fullmatch(node.targets[0].id):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "keywords") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg in SPEED_ONLY:
                continue
            if isinstance(child, ast.AST):
                yield child


def _changes_of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=ops):
            for k, operator in enumerate(ops):
                for other in COMPARISONS[type(operator)]:
                    yield _with(node, "comparison", lambda new, k=k, other=other: new.ops.__setitem__(k, other()))
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC and not _is_text(node.left):
            other = ARITHMETIC[type(operator)]
            yield _with(node, "arithmetic", lambda new: setattr(new, "op", other()))
        case ast.BoolOp(op=operator):
            other = ast.Or if isinstance(operator, ast.And) else ast.And
            yield _with(node, "and, or", lambda new: setattr(new, "op", other()))
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield node, "sign or not dropped", f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield node, "constant", str(not value)
        case ast.Constant(value=int() | float() as value):
            yield node, "constant", repr(value + 1)
            yield node, "constant", f"({value - 1!r})"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if not _negated_anyway(test):
            yield test, "condition negated", f"(not ({ast.unparse(test)}))"
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield node, "nothing returned", "return None"
        case ast.Expr(value=ast.Call()):
            yield node, "statement dropped", "pass"
        case ast.AugAssign(op=operator):
            yield node, "statement dropped", "pass"
            if type(operator) in ARITHMETIC:
                other = ARITHMETIC[type(operator)]
                yield _with(node, "arithmetic", lambda new: setattr(new, "op", other()))
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.Raise():
            yield node, "statement dropped", "pass"
        case ast.Break():
            yield node, "break, continue", "continue"
        case ast.Continue():
            yield node, "break, continue", "break"
        case ast.Call(func=func, args=arguments, keywords=keywords):
            yield from _changes_of_call(node, func, arguments, keywords)


def _changes_of_call(
    node: ast.Call, func: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]
) -> Iterator[Change]:
    called = _called(node)
    if called in SWAPPED:
        new = copy.deepcopy(func)
        setattr(new, "id" if isinstance(new, ast.Name) else "attr", SWAPPED[called])
        yield func, "opposite function", ast.unparse(new)
    if called in ("abs", "sqrt") and len(arguments) == 1:
        yield node, "function left out", f"({ast.unparse(arguments[0])})"
    for k, keyword in enumerate(keywords):
        if keyword.arg is not None and keyword.arg not in SPEED_ONLY:
            yield _with(node, f"{keyword.arg}= left out", lambda new, k=k: new.keywords.pop(k))


def _with(node: ast.AST, kind: str, change) -> Change:
    new = copy.deepcopy(node)
    change(new)
    text = ast.unparse(new)
    return node, kind, f"({text})" if isinstance(node, ast.expr) else text


def _called(node: ast.expr) -> str | None:
    """Last part of the name of what is called."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else None


def _negated_anyway(test: ast.expr) -> bool:
    """Whether a change of the condition itself turns it into its opposite."""
    return (isinstance(test, ast.Compare) and len(test.ops) == 1) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
