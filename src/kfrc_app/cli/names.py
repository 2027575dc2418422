"""Names that the library offers, written down so that help needs no numerical library; a test compares them with it."""

from __future__ import annotations

KERNELS = ("sum", "product", "linear", "path")
FUZZIFIERS = ("power", "exponential", "quadratic", "complementary_root")
CRITERIA = ("sum", "log_sum", "gap")
OPTIMIZERS = ("lbfgs", "momentum")
MEMBERSHIPS = ("fuzzy", "posterior")
OUTLIERS = ("clip", "keep")

N_REFITS = 20
"""Refits of a fit, as of :func:`kfrc_app.runs.cluster_table`."""
