"""
FANNY, as in R
==============

:class:`kfrc.FANNY` gives the numbers of R's ``cluster::fanny``. Its exponent decides how fuzzy the result is, from
clear to nothing at all: with the last one the fit collapses, and a warning says at which exponent that begins.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from kfrc import FANNY, UniformCollapseWarning

X = StandardScaler().fit_transform(load_iris().data)

# %%

models = []
for m in (1.3, 2.0, 10.0):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UniformCollapseWarning)
        models.append(FANNY(3, m=m).fit(X))
    print(f"m = {m:g}: {models[-1].status_}, Dunn coefficient {models[-1].normalized_dunn_coefficient_:.3f}")
    for warning in caught:
        print(f"    warning: {str(warning.message).split(';')[0][:100]} ...")

# %%

figure, axes = plt.subplots(1, 3, figsize=(9, 4.4), sharey=True, layout="constrained")
for ax, model in zip(axes, models, strict=True):
    image = ax.imshow(model.memberships_, aspect="auto", cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
    ax.set_title(f"m = {model.m:g}", loc="left")
    ax.set_xticks(range(3), [f"cluster {i}" for i in range(3)])
    ax.tick_params(length=0)
axes[0].set_ylabel("flowers, in the order of the data")
figure.colorbar(image, ax=axes, label="membership")
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
