"""
Genes: many more columns than rows
==================================

75 samples of tissue, 1500 genes. There are three kinds of tissue, but they differ in 45 genes only; the rest says
nothing about them. Distances over all genes drown in that rest. Which samples belong together, and which genes say so?

The table is made up here, so that we know what should be found.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

rng = np.random.default_rng(0)
n_samples, n_genes, n_active = 75, 1500, 45
kind = rng.permutation(np.repeat([0, 1, 2], n_samples // 3))
active = rng.choice(n_genes, n_active, replace=False)
expression = rng.standard_normal((n_samples, n_genes))
raised = np.zeros((3, n_active))
raised[np.arange(n_active) % 3, np.arange(n_active)] = 2.0  # each of them is raised in one kind of tissue
expression[:, active] += raised[kind]
expression = 8 + expression * rng.lognormal(0, 0.5, n_genes)  # every gene has a scale of its own

# %%
# All genes at once
# -----------------
# k-means on all genes, standardized as usual, finds next to nothing. The agreement with the truth is 1 for a perfect
# answer and about 0 by chance.

plain = KMeans(3, n_init=10, random_state=0).fit(scale(expression))
print(f"k-means: agreement with the truth {adjusted_rand_score(kind, plain.labels_):.2f}")

# %%
# The foremost genes first
# ------------------------
# With more than 250 columns ``KFRC`` first looks for those in which clusters differ beyond chance. It uses no labels,
# and no matrix of genes by genes. ``KFRC("auto")`` would find the number of kinds, too; it may also say that there is
# one.

from kfrc import KFRC

model = KFRC(3, random_state=0).fit(expression)
print(f"KFRC: agreement with the truth {adjusted_rand_score(kind, model.labels_):.2f}")
print(f"it used {len(model.foremost_.columns)} of {model.foremost_.n_columns} genes")

# %%
# Were they the right ones?
# -------------------------
# About one in ten of the genes that are named is expected to be there by chance.

used = set(model.foremost_.columns.tolist())
print(f"of the {n_active} genes that differ, {len(used & set(active.tolist()))} were used")
print(f"genes in which the clusters differ: {model.foremost_.n_differing}, one in ten of them by chance")

# %%
# The picture that papers show
# ----------------------------
# Samples sorted by cluster, the thirty genes with the largest share in what tells clusters apart, sorted by the cluster
# in which they are highest.

order = np.argsort(model.labels_, kind="stable")
genes = np.argsort(-model.contributions_)[:30]
standardized = scale(expression)
means = np.array([standardized[model.labels_ == g][:, genes].mean(axis=0) for g in range(3)])
genes = genes[np.argsort(means.argmax(axis=0), kind="stable")]
figure, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
image = ax.imshow(standardized[np.ix_(order, genes)].T, aspect="auto", cmap="RdBu_r", vmin=-3, vmax=3)
for edge in np.cumsum(np.bincount(model.labels_))[:-1]:
    ax.axvline(edge - 0.5, color="black", linewidth=1)
ax.set_yticks(range(len(genes)), [f"gene {g}" for g in genes], fontsize=6)
ax.set_xticks([])
ax.set_xlabel("samples, by cluster")
figure.colorbar(image, label="expression, in standard deviations")
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()

# %%
# How this works, and how weak a signal may be, stands in the decision on tables with more columns than rows, under
# *Background*.
