"""
Distances that no points have
=============================

Most words of a family are two edits from each other and one from "cat". No points have such distances, as "cat" would
have to be the midpoint of every pair. :class:`kfrc.RFCM` meets a negative distance and refuses; :class:`kfrc.NERFCM`
raises the dissimilarities by the smallest β that helps.
"""

import matplotlib.pyplot as plt
import numpy as np

from kfrc import NERFCM, RFCM, KFRCError

families = [
    ["cat", "bat", "cut", "cap", "cart", "coat", "chat", "scat", "cats"],
    ["stone", "store", "stony", "atone", "shone", "stole", "stones", "tone"],
    ["plan", "plane", "plant", "clan", "flan", "plain", "pan", "plank"],
]
words = [word for family in families for word in family]


def edit_distance(a, b):
    """Insertions, deletions and replacements of letters that turn a into b."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        above, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (letter != other))
    return row[-1]


# %%
# Squared, so that they would be squared Euclidean distances if the words were points.

R = np.array([[edit_distance(a, b) ** 2 for b in words] for a in words], dtype=float)
try:
    RFCM(3, m=1.3, metric="precomputed", random_state=0).fit(R)
except KFRCError as error:
    print(f"RFCM: {str(error)[:90]} ...")
model = NERFCM(3, m=1.3, metric="precomputed", random_state=0).fit(R)
print(f"NERFCM: {model.status_} with beta = {model.beta_:.3f} (the mean of R is {R.mean():.1f})")

# %%

order = np.lexsort((-model.memberships_.max(axis=1), model.labels_))
figure, ax = plt.subplots(figsize=(5, 6), layout="constrained")
image = ax.imshow(model.memberships_[order], aspect="auto", cmap="cividis", vmin=0, vmax=1)
ax.set_xticks(range(3), [f"cluster {i}" for i in range(3)])
ax.set_yticks(range(len(words)), [words[j] for j in order])
ax.tick_params(length=0)
figure.colorbar(image, ax=ax, label="membership")
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
