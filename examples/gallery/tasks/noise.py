"""
Columns of noise
================

Ten columns of noise are added to the thirteen measurements of 178 wines. Fuzzy c-means, which weighs all columns alike,
finds nothing any more; tuned bandwidths turn the noise down.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kfrc import FCM, KFRC, UniformCollapseWarning

wine = load_wine()
rng = np.random.default_rng(0)
X = np.hstack([scale(wine.data), rng.standard_normal((178, 10))])
names = [*wine.feature_names, *(f"noise {i}" for i in range(10))]

# %%

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UniformCollapseWarning)
    plain = FCM(3, random_state=0).fit(X)
tuned = KFRC(3, random_state=0).fit(X)
print("fuzzy c-means:", plain.status_, plain.memberships_[0].round(3))
print("KFRC:         ", tuned.status_, tuned.memberships_[0].round(3))

# %%
# What each column adds to telling the clusters apart. The columns of noise add nothing.

order = np.argsort(tuned.contributions_)
colors = np.where(order < 13, "#0072B2", "#D55E00")
figure, ax = plt.subplots(figsize=(6.5, 5.2), layout="constrained")
ax.barh(np.array(names)[order], tuned.contributions_[order], color=colors)
ax.set_xlabel("share in what tells the clusters apart")
ax.tick_params(labelsize=8)
ax.spines[["top", "right"]].set_visible(False)
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
