"""
When memberships collapse
=========================

With a large fuzzifier m, fuzzy clustering may give up without a word: every row belongs equally to every cluster. The
leading eigenvalue tells beforehand from which m* on that happens, and for which bandwidths it cannot.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from kfrc import KFRC, UniformCollapseWarning

X = load_iris().data
bandwidths = {"good": [1.0, 1.0, 1.0, 1.0], "bad": [0.5, 1.0, 5.0, 0.5]}
scales = X.std(axis=0, ddof=1)
exponents = np.geomspace(1.5, 20, 12)

# %%
# How much the memberships of a row differ, on average over the rows: zero if all are 1/3.

curves, critical = {}, {}
for name, thetas in bandwidths.items():
    spread = []
    for m in exponents:
        model = KFRC(3, fuzzifier="power", m=m, bandwidths=scales * thetas, init="near_uniform", random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UniformCollapseWarning)
            model.fit(X)
        spread.append(model.memberships_.std(axis=1).mean())
    curves[name], critical[name] = spread, model.critical_m_
    print(f"{name} bandwidths: predicted to collapse from m* = {model.critical_m_:.2f} on")

# %%

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, spread), color in zip(curves.items(), ["#0072B2", "#D55E00"], strict=True):
    ax.plot(exponents, spread, "o-", color=color, markersize=4, label=f"{name} bandwidths")
ax.axvline(critical["bad"], color="0.4", linestyle="--")
ax.text(critical["bad"] * 1.05, 0.3, "predicted m*", color="0.3")
ax.set(xscale="log", xlabel="fuzzifier m", ylabel="spread of the memberships of a row")
ax.set_xticks([1.5, 2, 3, 5, 10, 20], ["1.5", "2", "3", "5", "10", "20"])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
