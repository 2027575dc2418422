"""
An annealed fuzzifier
=====================

:class:`kfrc.VFCM` starts fuzzy and lets the fuzzifier fall while it iterates. Memberships at the start, on the way and
at the end.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from kfrc import VFCM
from kfrc_app.facts.palette import cluster_colors

X = scale(load_iris().data)
models = [VFCM(3, min_m=m, n_init=1, random_state=0).fit(X) for m in (2.0, 1.3, None)]  # None: it falls on towards 1
for model in models:
    print(f"final m = {model.m_:.3f}: uniformity {model.uniformity_:.3f}, {model.n_iter_} iterations")

# %%

order = np.lexsort((-models[0].memberships_.max(axis=1), models[0].labels_))
names = [f"cluster {i}" for i in range(3)]
figure, axes = plt.subplots(3, 1, figsize=(7.5, 5.2), sharex=True, layout="constrained")
for ax, model in zip(axes, models, strict=True):
    ax.stackplot(np.arange(len(order)), model.memberships_[order].T, colors=cluster_colors(3), labels=names, step="mid")
    ax.set_title(f"m = {model.m_:.3f}", loc="left")
    ax.set(ylim=(0, 1), yticks=[0, 0.5, 1])
    ax.margins(x=0)
    ax.spines[:].set_visible(False)
axes[1].set_ylabel("membership")
axes[-1].set_xlabel("irises, by cluster and largest membership at m = 2")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False)
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
