"""The partition of rows into blocks, and the order in which sums over blocks are added up.

Floating-point sums depend on the order of their terms. Here the order is a property of the rows alone: blocks of a
fixed number of rows, added up by a binary tree in the order of their indices. A task is a subtree, so that results are
the same bits however tasks are cut, and whoever computes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

BLOCK_ROWS = 1 << 16
"""Rows of a block: a few megabytes, and few enough blocks that adding them up costs nothing."""


class Summary(Protocol):
    """What is known of some rows, and can be joined with what is known of the rows that follow them."""

    def joined(self, following: Any) -> Self:
        """Of all these rows."""
        ...


S = TypeVar("S", bound=Summary)


def tree_sum(summaries: Iterable[S]) -> S:
    """Join summaries, given in order, by a binary tree whose left branches are the largest powers of two.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from kfrc.blocks import tree_sum
    >>> @dataclass
    ... class Text:
    ...     text: str
    ...     def joined(self, following):
    ...         return Text(f"({self.text}{following.text})")
    >>> tree_sum(Text(letter) for letter in "abcdefg").text
    '(((ab)(cd))((ef)g))'
    """
    waiting: list[tuple[int, S]] = []
    for summary in summaries:
        size = 1
        while waiting and waiting[-1][0] == size:
            summary = waiting.pop()[1].joined(summary)
            size *= 2
        waiting.append((size, summary))
    if not waiting:
        raise ValueError("there is nothing to add up")
    total = waiting.pop()[1]
    while waiting:
        total = waiting.pop()[1].joined(total)
    return total


@dataclass(frozen=True)
class Partition:
    """Rows in blocks, and blocks in tasks.

    Attributes
    ----------
    n_rows : int
    task_blocks : int
        Blocks of a task, a power of two.
    first_block : int
        Where tasks begin.
    """

    n_rows: int
    task_blocks: int = 4
    first_block: int = 0

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_rows // BLOCK_ROWS)

    @property
    def tasks(self) -> list[range]:
        """Blocks of every task."""
        return [
            range(first, min(first + self.task_blocks, self.n_blocks))
            for first in range(self.first_block, self.n_blocks, self.task_blocks)
        ]

    def rows(self, blocks: range) -> tuple[int, int]:
        """First row, and the row after the last, of consecutive blocks."""
        return blocks.start * BLOCK_ROWS, min(blocks.stop * BLOCK_ROWS, self.n_rows)


def sub_blocks(n_rows: int, step: int) -> Iterator[slice]:
    """Parts of a block that stay in cache."""
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
