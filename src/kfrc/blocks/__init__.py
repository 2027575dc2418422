"""Passes over rows that need not fit into memory: one map of a block, added up in one order, wherever it runs."""

from kfrc.blocks.connection import WorkerError, connected
from kfrc.blocks.engine import ClusterEngine, Engine, LocalEngine, engine_for, parse_memory
from kfrc.blocks.memberships import LazyLabels, LazyMemberships, PredictedMemberships, StoredMemberships, labels_of
from kfrc.blocks.partition import BLOCK_ROWS, Partition, tree_sum
from kfrc.blocks.reader import Block, Reader
from kfrc.blocks.survey import SAMPLE_ROWS
from kfrc.blocks.trust import AddressError, UntrustedClusterError, admitted, tls_security

__all__ = [
    "BLOCK_ROWS",
    "SAMPLE_ROWS",
    "AddressError",
    "Block",
    "ClusterEngine",
    "Engine",
    "LazyLabels",
    "LazyMemberships",
    "LocalEngine",
    "Partition",
    "PredictedMemberships",
    "Reader",
    "StoredMemberships",
    "UntrustedClusterError",
    "WorkerError",
    "admitted",
    "connected",
    "engine_for",
    "labels_of",
    "parse_memory",
    "tls_security",
    "tree_sum",
]
