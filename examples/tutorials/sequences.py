"""
Distances between sequences
===========================

Sequences of DNA have no columns, but it can be counted how many letters must be changed, added or left out to turn one
into another. Such distances are all that a clustering needs. And two of the sequences here are hybrids, half of one
family and half of another: a hard clustering must put them somewhere, a fuzzy one can say what they are.
"""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
letters = list("ACGT")


def copy_with_errors(sequence, rate=0.08):
    """A descendant: letters are replaced, lost or added now and then."""
    copied = []
    for letter in sequence:
        luck = rng.random()
        if luck < rate / 4:
            continue
        if luck < rate / 2:
            copied.append(rng.choice(letters))
        copied.append(rng.choice(letters) if luck > 1 - rate / 2 else letter)
    return "".join(copied)


ancestors = ["".join(rng.choice(letters, 40)) for _ in range(3)]
family = [f for f in range(3) for _ in range(14)]
sequences = [copy_with_errors(ancestors[f]) for f in family]
hybrids = [ancestors[0][:20] + ancestors[1][20:], ancestors[1][:20] + ancestors[2][20:]]
sequences += [copy_with_errors(hybrid, 0.05) for hybrid in hybrids]
print("\n".join([sequences[0], sequences[1], sequences[14], sequences[28]]))

# %%
# All distances
# -------------
# The edit distance (Levenshtein) by its usual recursion. Any symmetric table of dissimilarities with zeros on the
# diagonal will do; a package for your kind of sequences is faster.


def edits(a, b):
    """Replacements, losses and additions of letters that turn a into b."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


n = len(sequences)
distances = np.zeros((n, n))
for i in range(n):
    for j in range(i):
        distances[i, j] = distances[j, i] = edits(sequences[i], sequences[j])

# %%
# How fuzzy may it be?
# --------------------
# Before anything is fitted, the distances tell at which fuzzifier m everything would become the same. ``inf`` means
# that this cannot happen.

from kfrc.stability import critical_fuzzifier

for name in ("power", "complementary_root"):
    print(f"{name:<20} collapses from m = {critical_fuzzifier(name, 3, R=distances):.2f} on")

# %%
# Cluster
# -------

from kfrc import FRC

model = FRC(3, metric="precomputed", fuzzifier="complementary_root", m=1.5, random_state=0).fit(distances)
print(f"{model.status_} after {model.n_iter_} iterations")
print("clusters:", "".join(map(str, model.labels_)))
print("memberships of the two hybrids:")
print(model.memberships_[-2:].round(2))

# %%
# All but the hybrids belong to their family. The hybrids belong about half to each of theirs, and not at all to the
# third: this fuzzifier can give exact zeros.

order = [*np.argsort(model.labels_[:-2], kind="stable").tolist(), n - 2, n - 1]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), width_ratios=[1.5, 1], layout="constrained")
image = left.imshow(distances[np.ix_(order, order)], cmap="viridis_r")
left.set_title("Distances: three families, then two hybrids", loc="left")
left.set(xticks=[], yticks=[])
figure.colorbar(image, ax=left, label="edits")
image = right.imshow(model.memberships_[order], aspect="auto", cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
right.set_title("Memberships", loc="left")
right.set_xticks(range(3), [f"cluster {g}" for g in range(3)])
right.set_yticks([n - 2, n - 1], ["hybrid", "hybrid"])
figure.colorbar(image, ax=right, label="membership")
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()

# %%
# New sequences
# -------------
# Give their distances to the sequences that were clustered, one row for each.

new = copy_with_errors(ancestors[2])
row = np.array([[edits(new, old) for old in sequences]], dtype=float)
print("memberships of a new sequence of the third family:", model.predict_proba(row).round(2))

# %%
# Edit distances are not distances of points in any space, strictly. ``FRC`` clusters them all the same and warns if
# that matters; :class:`kfrc.NERFCM` shifts them until they are.
