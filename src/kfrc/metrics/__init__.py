"""Indices of partitions: agreement with a reference, fuzziness, geometry, and feature weights."""

from __future__ import annotations

from kfrc.metrics.agreement import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    fuzzy_adjusted_rand_score,
    fuzzy_jaccard_score,
    fuzzy_rand_score,
    normalized_mutual_info_score,
)
from kfrc.metrics.concordance import adjusted_concordance_score, concordance_score
from kfrc.metrics.frobenius import frobenius_adjusted_rand_score, frobenius_rand_score
from kfrc.metrics.geometry import fuzzy_silhouette_score, xie_beni_index
from kfrc.metrics.partition import (
    modified_partition_coefficient,
    partition_coefficient,
    partition_entropy,
    uniformity_index,
)
from kfrc.metrics.weights import effective_n_features, importance_weights

__all__ = [
    "adjusted_concordance_score",
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "concordance_score",
    "effective_n_features",
    "frobenius_adjusted_rand_score",
    "frobenius_rand_score",
    "fuzzy_adjusted_rand_score",
    "fuzzy_jaccard_score",
    "fuzzy_rand_score",
    "fuzzy_silhouette_score",
    "importance_weights",
    "modified_partition_coefficient",
    "normalized_mutual_info_score",
    "partition_coefficient",
    "partition_entropy",
    "uniformity_index",
    "xie_beni_index",
]
