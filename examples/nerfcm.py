"""Non-Euclidean relational fuzzy c-means: words, clustered by their edit distances.

Most words of a family are two edits from each other and one from "cat". No points have such distances, as "cat" would
have to be the midpoint of every pair. Relational fuzzy c-means meets a negative distance and refuses; NERFCM raises the
dissimilarities by the smallest β that helps.

Run ``python examples/nerfcm.py``; the figure goes to ``kfrc-demo/nerfcm.png``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from kfrc import NERFCM, RFCM, KFRCError

FAMILIES = [
    ["cat", "bat", "cut", "cap", "cart", "coat", "chat", "scat", "cats"],
    ["stone", "store", "stony", "atone", "shone", "stole", "stones", "tone"],
    ["plan", "plane", "plant", "clan", "flan", "plain", "pan", "plank"],
]
WORDS = [word for family in FAMILIES for word in family]
N_CLUSTERS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/nerfcm.png"), help="where the figure goes")
    arguments = parser.parse_args()

    # Squared, so that they would be squared Euclidean distances if the words were points.
    R = np.array([[edit_distance(a, b) ** 2 for b in WORDS] for a in WORDS], dtype=float)
    options = {"m": 1.3, "metric": "precomputed", "random_state": 0}
    try:
        RFCM(N_CLUSTERS, **options).fit(R)
    except KFRCError as error:
        print(f"RFCM: {error}")
    model = NERFCM(N_CLUSTERS, **options).fit(R)
    print(f"NERFCM: {model.status_} with beta = {model.beta_:.3f} (the mean of R is {R.mean():.1f})")
    for i in range(N_CLUSTERS):
        print(
            f"  cluster {i}: {' '.join(word for word, label in zip(WORDS, model.labels_, strict=True) if label == i)}"
        )
    save_figure(model, arguments.out)
    print(f"Figure: {arguments.out}")


def edit_distance(a: str, b: str) -> int:
    """Insertions, deletions and replacements of letters that turn a into b."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        above, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (letter != other))
    return row[-1]


def save_figure(model: NERFCM, path: Path) -> None:
    order = np.lexsort((-model.memberships_.max(axis=1), model.labels_))
    figure, axis = plt.subplots(figsize=(5, 6), layout="constrained")
    image = axis.imshow(model.memberships_[order], aspect="auto", cmap="cividis", vmin=0, vmax=1)
    axis.set_title(f"Memberships of words, β = {model.beta_:.2f}", loc="left")
    axis.set_xticks(range(N_CLUSTERS), [f"cluster {i}" for i in range(N_CLUSTERS)])
    axis.set_yticks(range(len(WORDS)), [WORDS[j] for j in order])
    axis.tick_params(length=0)
    figure.colorbar(image, ax=axis, label="membership")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
