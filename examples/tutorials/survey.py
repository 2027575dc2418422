"""
A survey, with blanks and weights
=================================

A survey asked 120 people about themselves. Columns are of every kind, people left questions open, and some count more
than others because too few of their kind answered. Are there groups of people, what makes them, and who lies between?

The answers are made up here, so that we know what should be found. Put ``pandas.read_csv("yours.csv")`` in their place.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
kind = rng.choice(3, 120, p=[0.4, 0.35, 0.25])  # what nobody knows: three kinds of people


def answers(levels, shares):
    """One of the levels for each person, with the shares of their kind."""
    return [levels[rng.choice(len(levels), p=shares[k])] for k in kind]


levels = ["low", "middle", "high"]
survey = pd.DataFrame(
    {
        "age": rng.normal(np.array([27, 45, 68])[kind], 6).round(),
        "income": rng.normal(np.array([24, 52, 30])[kind], 7).round(1),
        "screen hours": rng.gamma(6, np.array([1.0, 0.45, 0.3])[kind]).round(1),
        "trust": pd.Categorical(
            answers(levels, [[0.5, 0.4, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]), categories=levels, ordered=True
        ),
        "lives in": answers(["city", "town", "village"], [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.1, 0.3, 0.6]]),
        "owns home": answers(["yes", "no"], [[0.1, 0.9], [0.7, 0.3], [0.8, 0.2]]),
        "shoe size": rng.normal(41, 2.5, 120).round(),
    }
)
survey = survey.mask(rng.random(survey.shape) < 0.08)  # some questions stay open
weights = np.array([0.8, 1.0, 1.5])[kind]  # older people answered too rarely, so they count more
weights /= weights.mean()
survey.head()

# %%
# One call is enough
# ------------------
# Nothing is filled in, no column is turned into numbers by hand, and nobody is thrown out. ``KFRC("auto")`` would also
# find the number of groups.

from kfrc import KFRC

model = KFRC(3, random_state=0).fit(survey, sample_weight=weights)
print("understood:", model.column_types_)
print("people in each group:", np.bincount(model.labels_))

# %%
# Which questions make the groups?
# --------------------------------
# Each question has a share in what tells the groups apart. Shoe size has none: nobody had to take it out.

shares = pd.Series(model.contributions_, index=survey.columns).sort_values()
figure, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
ax.barh(shares.index, shares, color="#0072B2")
ax.set_xlabel("share in what tells the groups apart")
ax.spines[["top", "right"]].set_visible(False)
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()

# %%
# What are they like?
# -------------------
# Means and shares by group, with the weights. Blanks do not count.


def profile(column, rows):
    """The mean of numbers, or the most frequent answer with its share."""
    values, counts = survey.loc[rows, column], pd.Series(weights[rows])
    known = values.notna().to_numpy()
    if pd.api.types.is_numeric_dtype(values):
        return f"{np.average(values[known], weights=counts[known]):.1f}"
    totals = counts[known].groupby(values[known].to_numpy(), observed=True).sum()
    return f"{totals.idxmax()} ({totals.max() / totals.sum():.0%})"


pd.DataFrame(
    {f"group {g}": {name: profile(name, np.flatnonzero(model.labels_ == g)) for name in survey} for g in range(3)}
)

# %%
# Who lies between?
# -----------------
# Memberships of a person sum to one. These are the five people whose largest membership is smallest.

largest = model.memberships_.max(axis=1)
between = np.argsort(largest)[:5]
memberships = pd.DataFrame(model.memberships_.round(2), columns=[f"group {g}" for g in range(3)])
pd.concat([memberships, survey], axis=1).iloc[between]

# %%
# Can it be trusted?
# ------------------
# Groups are found in anything, so ask. The whole procedure is fitted again on two thirds of the people, several times.
# Two refits are enough for a page that must be quick; twenty, the default, are better.

from kfrc.confidence import assess

trust = assess(model, survey, sample_weight=weights, n_refits=2, random_state=0)
print(f"agreement of the refits with the groups: {trust.partition:.2f} (1 is perfect)")
print("how much of each group is found again:", trust.clusters.round(2))
print(f"p-value of 'there is only one group': {trust.existence:.3f}")

# %%
# Somebody new
# ------------
# A new person may leave questions open as well.

new = pd.DataFrame(
    {
        "age": [70.0],
        "income": [np.nan],
        "screen hours": [1.5],
        "trust": pd.Categorical(["high"], categories=levels, ordered=True),
        "lives in": ["village"],
        "owns home": ["yes"],
        "shoe size": [np.nan],
    }
)
print("memberships:", model.predict_proba(new).round(2))

# %%
# As we made up the answers, we can look: the groups are the kinds of people, up to a few who answered like another
# kind.

from sklearn.metrics import adjusted_rand_score

print(f"adjusted Rand index with the truth: {adjusted_rand_score(kind, model.labels_):.2f}")
