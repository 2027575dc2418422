"""Passes over rows that need not fit into memory: one map of a block, added up in one order, wherever it runs."""

from kfrc.blocks.engine import ClusterEngine, Engine, LocalEngine, engine_for, parse_memory
from kfrc.blocks.partition import BLOCK_ROWS, Partition, tree_sum
from kfrc.blocks.reader import Block, Reader

__all__ = [
    "BLOCK_ROWS",
    "Block",
    "ClusterEngine",
    "Engine",
    "LocalEngine",
    "Partition",
    "Reader",
    "engine_for",
    "parse_memory",
    "tree_sum",
]
