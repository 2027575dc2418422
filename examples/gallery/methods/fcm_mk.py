"""
Fuzzy c-means with multiple kernels
===================================

:class:`kfrc.FCMMK` weights several Gaussian kernels for every cluster. The weights end on the widest kernel, so its
width decides how far a cluster reaches.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from sklearn.datasets import make_blobs

from kfrc import FCMMK
from kfrc_app.facts.palette import cluster_colors

spreads = [0.5, 0.9, 1.4]
X, _ = make_blobs([60, 60, 60], centers=[(0, 0), (5, 1), (2, 6)], cluster_std=spreads, random_state=0)

# %%

widths = {"narrow": [0.5, 1.0], "wide": [2.0, 8.0]}
models = {name: FCMMK(3, sigmas=sigmas, random_state=0).fit(X) for name, sigmas in widths.items()}
for name, model in models.items():
    print(f"{name}: uniformity {model.uniformity_:.3f}, weights by cluster {model.kernel_weights_.round(3).tolist()}")

# %%
# The color is that of the largest membership; it fades to white where all memberships are equal.

palette = np.array([to_rgb(color) for color in cluster_colors(3)])


def faded(U):
    strength = (U.max(axis=1, keepdims=True) - 1 / 3) / (1 - 1 / 3)
    return 1 - strength * (1 - palette[U.argmax(axis=1)])


low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
x, y = np.meshgrid(np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 150))
figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    U = model.predict_proba(np.column_stack([x.ravel(), y.ravel()]))
    ax.imshow(faded(U).reshape(*x.shape, 3), origin="lower", extent=(low[0], high[0], low[1], high[1]))
    ax.scatter(*X.T, s=10, c=faded(model.memberships_), edgecolors="black", linewidths=0.4)
    ax.scatter(*model.cluster_centers_.T, marker="+", s=90, c="black", linewidths=2)
    ax.set_title(f"{name}: σ = {', '.join(f'{sigma:g}' for sigma in model.sigmas_)}", loc="left")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
