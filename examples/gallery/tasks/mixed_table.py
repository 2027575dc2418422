"""
Numbers and categories together
===============================

Two measurements of birds nearly tell three species apart. With the island, the color and a tenth of all values missing,
the picture gets clearer. Every column has one bandwidth and one share in the result, whatever it holds.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from kfrc import KFRC
from kfrc_app.facts.palette import blend_colors

rng = np.random.default_rng(2)
species = rng.permutation(np.repeat([0, 1, 2], 50))


def mostly(levels, share):
    """The level of the species for this share of the birds, any level for the others."""
    return np.array(levels)[np.where(rng.random(150) < share, species, rng.integers(0, 3, 150))]


birds = pd.DataFrame(
    {
        "bill length": rng.normal(np.array([39, 46, 48])[species], 2.2),
        "bill depth": rng.normal(np.array([18.3, 15, 18.4])[species], 1.0),
        "island": mostly(["north", "middle", "south"], 0.85),
        "color": mostly(["pale", "dark", "spotted"], 0.7),
        "nest": rng.choice(["old", "new"], 150),
    }
)
birds = birds.mask(rng.random(birds.shape) < 0.08)
birds.head()

# %%

numbers = KFRC(3, random_state=0).fit(birds[["bill length", "bill depth"]])
model = KFRC(3, random_state=0).fit(birds)
print(f"agreement with the species: numbers alone {adjusted_rand_score(species, numbers.labels_):.2f}")
print(f"                            all columns   {adjusted_rand_score(species, model.labels_):.2f}")
print("shares:", dict(zip(birds.columns, model.contributions_.round(2).tolist(), strict=True)))

# %%
# Colors mix by membership. Birds with a blank in one of the two measurements are not drawn, but they were clustered.

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.8), sharex=True, sharey=True, layout="constrained")
for ax, (title, fit) in zip(axes, {"two numbers": numbers, "all columns": model}.items(), strict=True):
    ax.scatter(birds["bill length"], birds["bill depth"], c=blend_colors(fit.memberships_), s=22)
    ax.set_title(title, loc="left")
    ax.set_xlabel("bill length")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("bill depth")
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
