"""Gram matrices K as operators: what the spectrum and the solver need of K, whatever holds it."""

from kfrc.gram.base import Gram, GramFamily
from kfrc.gram.dense import DenseGram, DenseGrams
from kfrc.gram.factored import FactoredGram, FactoredGrams
from kfrc.gram.families import gram_family

__all__ = ["DenseGram", "DenseGrams", "FactoredGram", "FactoredGrams", "Gram", "GramFamily", "gram_family"]
