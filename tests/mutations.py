"""Small faults to put into a module, one at a time: the mutants that its tests should catch.

A mutant replaces one piece of the source text and leaves the rest as it is, so its diff shows the
fault and nothing else. Messages, docstrings, annotations and decorators stay as they are.
"""

from __future__ import annotations

import ast
from collections import Counter
from difflib import unified_diff
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple, cast

OPERATORS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
TWINS = {"max": "min", "any": "all", "maximum": "minimum", "argmax": "argmin", "zeros": "ones"}
TWINS |= {second: first for first, second in TWINS.items()}
FOR_READERS = ("__repr__", "__str__")
Block = list[ast.stmt]


class Mutant(NamedTuple):
    """`old` becomes `new` at byte `start` of the source."""

    kind: str
    place: str  # the qualified name of the function, and a count among those of the same kind
    start: int
    old: bytes
    new: bytes

    def applied(self, source: bytes) -> bytes:
        """The source with this fault."""
        return source[: self.start] + self.new + source[self.start + len(self.old) :]

    def diff(self, source: bytes, name: str) -> str:
        """The fault as a unified diff."""
        before, after = (
            text.decode().splitlines(keepends=True) for text in (source, self.applied(source))
        )
        return "".join(unified_diff(before, after, name, f"{name} ({self.kind})", n=1))


def mutants(source: bytes) -> list[Mutant]:
    """Every mutant of a module, in the order of the source."""
    found = _Mutants(source)
    found.visit(ast.parse(source))
    return found.mutants


def chosen(source: bytes, number: int, seed: int) -> list[Mutant]:
    """A sample of mutants that takes every kind in turn.

    The choice depends on the names of functions and on the order of what they hold. Moving a file,
    rewording its docstrings or editing another function therefore leaves it as it is.
    """

    def rank(mutant: Mutant) -> bytes:
        return sha256(f"{seed} {mutant.kind} {mutant.place}".encode()).digest()

    turns: Counter[str] = Counter()
    ordered = []
    for mutant in sorted(mutants(source), key=rank):
        ordered.append((turns[mutant.kind], rank(mutant), mutant))
        turns[mutant.kind] += 1
    return sorted((mutant for *_, mutant in sorted(ordered)[:number]), key=lambda m: m.start)


class _Mutants(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.names: list[str] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self.mutants: list[Mutant] = []

    def span(self, node: ast.AST) -> tuple[int, int]:
        place = cast(ast.expr, node)
        end_line, end_column = cast(int, place.end_lineno), cast(int, place.end_col_offset)
        return self.lines[place.lineno - 1] + place.col_offset, self.lines[
            end_line - 1
        ] + end_column

    def add(self, kind: str, start: int, stop: int, new: str) -> None:
        """Unless the module would no longer be Python."""
        name = ".".join(self.names)
        self.counts[kind, name] += 1
        place = f"{name} {self.counts[kind, name]}"
        mutant = Mutant(kind, place, start, self.source[start:stop], new.encode())
        try:
            compile(mutant.applied(self.source), name, "exec")
        except SyntaxError:
            return
        self.mutants.append(mutant)

    def replace(self, kind: str, node: ast.AST, new: str) -> None:
        self.add(kind, *self.span(node), new)

    def swap(self, kind: str, left: ast.expr, operator: ast.AST, right: ast.expr) -> None:
        """The operator between two operands."""
        if type(operator) not in OPERATORS:
            return
        old, new = OPERATORS[type(operator)]
        start = self.source.index(old.encode(), self.span(left)[1], self.span(right)[0])
        self.add(kind, start, start + len(old), new)

    def negate(self, test: ast.expr) -> None:
        self.replace("condition", test, f"(not ({ast.unparse(test)}))")

    # Statements

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        self.block(node.body)
        self.names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in FOR_READERS:
            return
        self.names.append(node.name)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        body = node.body[1:] if ast.get_docstring(node) else node.body
        gives_nothing = isinstance(node.returns, ast.Constant) and node.returns.value is None
        if gives_nothing and len(body) > 1:
            self.replace("early return", body[0], "return")
        self.block(body, last=body[-1:])
        self.names.pop()

    def visit_Module(self, node: ast.Module) -> None:
        self.block(node.body)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.negate(node.test)
            self.visit(node.test)
            self.block(node.body)
            self.block(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self.block(node.body)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.block(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leaves the message as it is."""

    def block(self, body: Block, last: Block | None = None) -> None:
        for statement in body:
            if self.can_go(statement) and statement not in (last or []):
                self.replace("statement", statement, "pass")
            self.visit(statement)

    @staticmethod
    def can_go(statement: ast.stmt) -> bool:
        """Whether leaving it out leaves no name undefined."""
        if isinstance(statement, ast.Expr):
            return isinstance(statement.value, ast.Call)
        if isinstance(statement, ast.Assign):
            return all(isinstance(t, ast.Attribute | ast.Subscript) for t in statement.targets)
        kinds = ast.AugAssign | ast.Raise | ast.Return | ast.Continue | ast.Break
        return isinstance(statement, kinds)

    # Expressions

    def visit_Compare(self, node: ast.Compare) -> None:
        for (left, right), operator in zip(
            pairwise([node.left, *node.comparators]), node.ops, strict=True
        ):
            self.swap("comparison", left, operator, right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in pairwise(node.values):
            self.swap("logic", left, node.op, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if self.names:  # elsewhere it may be a union of types
            self.swap("arithmetic", node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self.replace("sign", node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.negate(test)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if name in TWINS:
            stop = self.span(node.func)[1]
            self.add("function", stop - len(name), stop, TWINS[name])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.replace("constant", node, str(not node.value))
        elif isinstance(node.value, int):
            self.replace("constant", node, str(node.value + 1))
        elif isinstance(node.value, float):
            self.replace("constant", node, repr(2 * node.value or 1.0))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leaves the message as it is."""
