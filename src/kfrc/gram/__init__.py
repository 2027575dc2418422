"""Gram matrices K as operators: what the spectrum and the solver need of K, whatever holds it."""

from kfrc.gram.base import Gram, GramFamily
from kfrc.gram.centers import Centers, ColumnCenters
from kfrc.gram.column_grams import ColumnGram, ColumnGrams
from kfrc.gram.dense import DenseGram, DenseGrams
from kfrc.gram.embedded import EmbeddedGram, EmbeddedGrams
from kfrc.gram.factored import FactoredGram, FactoredGrams, FeatureCenters
from kfrc.gram.families import APPROXIMATIONS, gram_family, places_of
from kfrc.gram.low_rank import ChebyshevGram, ChebyshevGrams, NodeCenters
from kfrc.gram.nystrom import NystromGram, NystromGrams

__all__ = [
    "APPROXIMATIONS",
    "Centers",
    "ChebyshevGram",
    "ChebyshevGrams",
    "ColumnCenters",
    "ColumnGram",
    "ColumnGrams",
    "DenseGram",
    "DenseGrams",
    "EmbeddedGram",
    "EmbeddedGrams",
    "FactoredGram",
    "FactoredGrams",
    "FeatureCenters",
    "Gram",
    "GramFamily",
    "NodeCenters",
    "NystromGram",
    "NystromGrams",
    "gram_family",
    "places_of",
]
