"""The changes that the tests of the core are measured by."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from mutants import mutants_of

pytestmark = pytest.mark.slow


def changed(code):
    """What ``code`` becomes, without spaces and brackets that only the change put there."""
    source = dedent(code).strip().encode()
    return [ast.unparse(ast.parse(mutant.applied(source))) for mutant in mutants_of("module.py", source)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a is None", ["a is not None"]),
        ("a * b - c", ["a * b + c", "a / b - c"]),
        ("a and not b", ["a or not b", "a and b"]),
        ("-a", ["a"]),
        ("x = 2", ["x = 3", "x = 1"]),
        ("x = True", ["x = False"]),
        ("a[k] = b", ["pass"]),
        ("a += b", ["pass", "a -= b"]),
        ("a.b(c)", ["pass"]),
        ("x = np.maximum(a, b)", ["x = np.minimum(a, b)"]),
        ("x = f(a, key=b)", ["x = f(a)"]),
        ("x = np.sqrt(a)", ["x = a"]),
        ("if f(x): pass", ["if not f(x):\n    pass"]),
    ],
)
def test_changes_of_a_line(code, expected):
    assert changed(code) == expected


def test_a_function_returns_nothing_and_an_error_is_not_raised():
    assert changed("def f(x):\n    return g(x)") == ["def f(x):\n    return None"]
    assert changed('raise ValueError("a" + "b")') == ["pass"]


def test_what_describes_is_not_changed():
    assert not changed(
        '''
        """1 + 1."""
        from a import b

        _BLOCK_ELEMENTS = 1 << 19
        _SEED = 7

        @cached(size=32)
        class A(B, name="a"):
            """2 < 3."""

            x: Literal[1]

            def f(self, x: Interval[0, 1]) -> Literal[-1]:
                """Not -1."""
                x = f"{x + 1}"
                y = "a" + x
                z = np.empty(x, dtype=f(1))
        '''
    )


def test_a_change_stays_in_its_place_also_behind_letters_of_several_bytes():
    source = 'τ = "é"; x = a + b  # a + b'.encode()
    (mutant,) = mutants_of("module.py", source)
    assert mutant.applied(source).decode() == 'τ = "é"; x = (a - b)  # a + b'
    assert mutant.shown(source) == "module.py:1 arithmetic: a + b → (a - b)"
