"""The order of sums is a property of the rows: neither tasks nor threads nor the pieces of a source change a bit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kfrc.blocks import BLOCK_ROWS, LocalEngine, Partition, Reader, tree_sum
from kfrc.blocks.partition import sub_blocks
from kfrc.blocks.reader import Coding, KeepingReader
from kfrc.sources import ArraySource, Chunk, Source, SourceError


@dataclass
class Text:
    """A summary that shows in which order it was made."""

    text: str

    def joined(self, following):
        return Text(f"({self.text}{following.text})")


@dataclass
class Sum:
    """A sum of floats, whose last bits depend on the order of its terms."""

    value: np.ndarray

    def joined(self, following):
        return Sum(self.value + following.value)


def texts(n_items):
    return [Text(f"[{k}]") for k in range(n_items)]


# The tree


@given(st.integers(1, 300), st.integers(0, 9))
def test_the_tree_has_the_same_shape_whatever_the_size_of_tasks(n_items, exponent):
    items, size = texts(n_items), 2**exponent
    tasks = [items[first : first + size] for first in range(0, n_items, size)]
    assert tree_sum(tree_sum(task) for task in tasks).text == tree_sum(items).text


@given(st.integers(1, 200))
def test_the_left_branch_is_the_largest_power_of_two(n_items):
    def tree(items):
        if len(items) == 1:
            return items[0].text
        left = 1 << ((len(items) - 1).bit_length() - 1)
        return f"({tree(items[:left])}{tree(items[left:])})"

    assert tree_sum(iter(texts(n_items))).text == tree(texts(n_items))


@given(st.integers(1, 40))
def test_every_item_counts_once_and_in_order(n_items):
    found = tree_sum(texts(n_items)).text.replace("(", "").replace(")", "")
    assert found == "".join(item.text for item in texts(n_items))


@given(st.integers(1, 64), st.integers(0, 3), st.integers(0, 3))
def test_tasks_of_tasks_are_tasks(n_items, inner, outer):
    items, small, large = texts(n_items), 2**inner, 2 ** (inner + outer)
    groups = [items[first : first + large] for first in range(0, n_items, large)]
    nested = [tree_sum(tree_sum(group[k : k + small]) for k in range(0, len(group), small)) for group in groups]
    assert tree_sum(nested).text == tree_sum(items).text


def test_a_single_item_is_its_own_sum():
    item = Text("a")
    assert tree_sum([item]) is item


def test_nothing_cannot_be_added_up():
    with pytest.raises(ValueError, match="nothing"):
        tree_sum([])


# Blocks and tasks


@given(st.integers(1, 40 * BLOCK_ROWS), st.sampled_from([1, 2, 4, 8, 16]))
def test_tasks_hold_every_row_once_and_in_order(n_rows, task_blocks):
    partition = Partition(n_rows, task_blocks)
    blocks = [block for task in partition.tasks for block in task]
    assert blocks == list(range(partition.n_blocks))
    ends = [partition.rows(task) for task in partition.tasks]
    assert ends[0][0] == 0
    assert ends[-1][1] == n_rows
    assert all(first[1] == second[0] for first, second in pairwise(ends))
    assert all(start % BLOCK_ROWS == 0 for start, _ in ends)


def test_tasks_may_begin_later():
    partition = Partition(10 * BLOCK_ROWS, 4, first_block=3)
    assert [list(task) for task in partition.tasks] == [[3, 4, 5, 6], [7, 8, 9]]
    assert Partition(2 * BLOCK_ROWS, 4, first_block=2).tasks == []


@given(st.integers(0, 5000), st.integers(1, 700))
def test_parts_of_a_block_hold_every_row_once(n_rows, step):
    rows = np.arange(n_rows)
    parts = [rows[part] for part in sub_blocks(n_rows, step)]
    assert_array_equal(np.concatenate([rows[:0], *parts]), rows)
    assert all(0 < len(part) <= step for part in parts)


@pytest.mark.parametrize("memory", [10**7, 10**8, 10**9])
def test_tasks_are_powers_of_two_that_fit_the_memory(memory):
    for n_columns in (1, 10, 100):
        source = ArraySource(np.broadcast_to(0.0, (10**8, n_columns)))
        size = LocalEngine(2, memory).partition(source).task_blocks
        assert size & (size - 1) == 0
        assert size == 1 or 8 * n_columns * BLOCK_ROWS * size <= memory / 4


# Passes


class Pieces(Source):
    """An array that comes in pieces of given sizes."""

    def __init__(self, X, sizes, weights=None):
        self.X, self.weights, self.sizes = X, weights, sizes
        self.n_rows, self.names = len(X), tuple(range(X.shape[1]))

    def chunks(self, start, stop):
        k = 0
        while start < stop:
            end = min(start + self.sizes[k % len(self.sizes)], stop)
            rows, k = slice(start, end), k + 1
            yield Chunk(list(self.X[rows].T), None if self.weights is None else self.weights[rows])
            start = end


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).standard_cauchy((3 * BLOCK_ROWS + 1234, 2))


def total(source, engine, task_blocks=1):
    reader = Reader(source, Coding(), Partition(len(source), task_blocks))
    return engine.run(lambda block: Sum(block.values.sum(axis=1)), reader, "").value


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("task_blocks", [1, 2, 4])
def test_sums_are_the_same_bits_for_any_number_of_threads_and_blocks_of_tasks(values, n_threads, task_blocks):
    expected = total(ArraySource(values), LocalEngine(1))
    assert_array_equal(total(ArraySource(values), LocalEngine(n_threads), task_blocks), expected)


@pytest.mark.parametrize("sizes", [(BLOCK_ROWS,), (50_000,), (1, 99_999, 7), (10**6,)])
def test_blocks_are_the_same_however_a_source_cuts_its_rows(values, sizes):
    weights = np.arange(len(values), dtype=np.float64)
    reader = Reader(Pieces(values, sizes, weights), Coding(), Partition(len(values)))
    blocks = list(reader.blocks(range(4)))
    assert [block.first for block in blocks] == [0, BLOCK_ROWS, 2 * BLOCK_ROWS, 3 * BLOCK_ROWS]
    assert [block.n_rows for block in blocks] == [BLOCK_ROWS, BLOCK_ROWS, BLOCK_ROWS, 1234]
    assert_array_equal(np.concatenate([block.values for block in blocks], axis=1), values.T)
    assert_array_equal(np.concatenate([block.weights for block in blocks]), weights)
    (last,) = reader.blocks(range(3, 4))
    assert_array_equal(last.values, values[3 * BLOCK_ROWS :].T)


def test_a_reader_that_fits_into_memory_reads_once(values):
    class Counting(Pieces):
        n_read = 0

        def chunks(self, start, stop):
            Counting.n_read += stop - start
            return super().chunks(start, stop)

    source = Counting(values, (50_000,))
    reader = Reader(source, Coding(), Partition(len(values), 2))
    assert not isinstance(reader.kept(10**6), KeepingReader)
    kept = reader.kept(10**9)
    for _ in range(3):
        blocks = [block for task in kept.partition.tasks for block in kept.blocks(task)]
        assert_array_equal(np.concatenate([block.values for block in blocks], axis=1), values.T)
    assert Counting.n_read == len(values)


def test_results_of_tasks_come_in_order(values):
    reader = Reader(ArraySource(values), Coding(), Partition(len(values), 1))
    for engine in (LocalEngine(1), LocalEngine(3)):
        tasks = engine.each(lambda block: block.first, reader, "")
        assert list(tasks) == [[k * BLOCK_ROWS] for k in range(4)]
    later = reader.beginning_at(2)
    assert list(LocalEngine(2).each(lambda block: block.first, later, "")) == [[2 * BLOCK_ROWS], [3 * BLOCK_ROWS]]


def test_a_source_that_ends_early_is_noticed(values):
    class Short(Pieces):
        def chunks(self, start, stop):
            return super().chunks(start, min(stop, len(self.X) - 100))

    source = Short(values, (50_000,))
    reader = Reader(source, Coding(), Partition(len(values)))
    with pytest.raises(SourceError, match="ended 100 row"):
        list(reader.blocks(range(4)))
    with pytest.raises(SourceError, match="ended 100 row"):
        LocalEngine(1).run_on_chunks(lambda chunk, first: Sum(np.zeros(1)), reader, "")


def test_errors_of_a_task_reach_the_caller(values):
    def broken(block):
        if block.first == 2 * BLOCK_ROWS:
            raise SourceError("the third block")
        return Sum(np.zeros(1))

    reader = Reader(ArraySource(values), Coding(), Partition(len(values), 1))
    for n_threads in (1, 2):
        with pytest.raises(SourceError, match="the third block"):
            LocalEngine(n_threads).run(broken, reader, "")
