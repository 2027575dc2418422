"""
Fuzzy c-means
=============

:class:`kfrc.FCM` on 178 wines. Colors mix by membership, so wines between two clusters have a color between theirs; the
crosses are the centers.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from kfrc import FCM
from kfrc_app.facts.palette import blend_colors, cluster_colors

X = StandardScaler().fit_transform(load_wine().data)

# %%
# With the usual fuzzifier, the power, no membership is ever exactly 1. With the quadratic one, clear cases are.

models = [
    FCM(3, fuzzifier="power", m=1.5, random_state=0).fit(X),
    FCM(3, fuzzifier="quadratic", m=0.5, random_state=0).fit(X),
]
for model in models:
    crisp = (model.memberships_ == 1).any(axis=1).sum()
    print(f"{model.fuzzifier_.label:<10} {model.status_} after {model.n_iter_} iterations, {crisp} rows are sure")

# %%

projection = PCA(2).fit(X)
points = projection.transform(X)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for ax, model in zip(axes, models, strict=True):
    ax.scatter(*points.T, c=blend_colors(model.memberships_), s=18)
    centers = projection.transform(model.cluster_centers_)
    ax.scatter(*centers.T, c=cluster_colors(3), marker="X", s=140, edgecolors="black")
    ax.set_title(f"{model.fuzzifier_.label} fuzzifier, m = {model.fuzzifier_.m:g}", loc="left")
    ax.set_xlabel("first principal component")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("second principal component")
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
