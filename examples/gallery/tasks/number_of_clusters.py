"""
How many clusters?
==================

``KFRC("auto")`` compares numbers of clusters by their evidence: how well each explains the rows, less what it needs for
that. It takes the smallest number that is about as good as the best, and says so if there is only one group.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from kfrc import KFRC, NoStructureWarning
from kfrc.simulation import make_gaussian_mixture
from kfrc_app.facts.palette import blend_colors

X, _ = make_gaussian_mixture(4, 2, average_overlap=0.01, random_state=3).sample(160, random_state=0)
model = KFRC("auto", max_clusters=5, random_state=0).fit(X)
print("clusters found:", model.n_clusters_, "| reason:", model.cluster_count_reason_)

# %%

counts = model.cluster_count_
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(counts["n_clusters"], counts["evidence"], "o-", color="#0072B2")
left.axvline(model.n_clusters_, color="0.5", linestyle="--")
left.set(xlabel="number of clusters", ylabel="evidence for it")
right.scatter(*X.T, c=blend_colors(model.memberships_), s=20)
right.set(xticks=[], yticks=[])
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()

# %%
# One group stays one group.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", NoStructureWarning)
    single = KFRC("auto", max_clusters=3, random_state=0).fit(np.random.default_rng(0).standard_normal((100, 3)))
print("clusters found in noise:", single.n_clusters_)
print("warned:", any(warning.category is NoStructureWarning for warning in caught))
