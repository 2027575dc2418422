"""
Membership scaling fuzzy c-means
================================

:class:`kfrc.MSFCM` beside fuzzy c-means. It sets memberships of rows that are surely far from a center to nearly
nothing, and converges sooner.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kfrc import FRC, MSFCM

X = scale(load_wine().data)
models = {"fuzzy c-means": FRC(3, m=2, random_state=0).fit(X), "scaled": MSFCM(3, m=2, random_state=0).fit(X)}
for name, model in models.items():
    print(f"{name:<14} uniformity {model.uniformity_:.3f}, {model.status_} after {model.n_iter_} iterations")
print(f"scaled in the last iteration: {models['scaled'].filter_rates_[-1]:.0%} of the rows")

# %%

plain = models["fuzzy c-means"]
order = np.lexsort((-plain.memberships_.max(axis=1), plain.labels_))
figure, axes = plt.subplots(1, 2, figsize=(7.5, 4.6), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    image = ax.imshow(model.memberships_[order], aspect="auto", cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
    ax.set_title(f"{name}: uniformity {model.uniformity_:.2f}", loc="left")
    ax.set_xticks(range(3), [f"cluster {i}" for i in range(3)])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
axes[0].set_ylabel("wines, by cluster")
axes[0].set_yticks([])
figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02, label="membership")
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
