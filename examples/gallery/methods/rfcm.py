"""
Relational fuzzy c-means
========================

:class:`kfrc.RFCM` needs distances only, here Manhattan distances between wines.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from kfrc import RFCM

X = StandardScaler().fit_transform(load_wine().data)
R = pairwise_distances(X, metric="manhattan")  # the square of a Euclidean distance, in some space
model = RFCM(3, m=1.3, metric="precomputed", random_state=0).fit(R)
print(f"{model.status_} after {model.n_iter_} iterations, uniformity {model.uniformity_:.3f}")

# %%

order = np.lexsort((-model.memberships_.max(axis=1), model.labels_))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), width_ratios=[1.4, 1], layout="constrained")
image = left.imshow(R[np.ix_(order, order)], cmap="viridis_r")
left.set_title("Dissimilarities, rows sorted by cluster", loc="left")
left.set(xticks=[], yticks=[])
figure.colorbar(image, ax=left, label="Manhattan distance")
image = right.imshow(model.memberships_[order], aspect="auto", cmap="cividis", vmin=0, vmax=1)
right.set_title("Memberships", loc="left")
right.set_xticks(range(3), [f"cluster {i}" for i in range(3)])
right.set_yticks([])
figure.colorbar(image, ax=right, label="membership")
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
