"""
Which columns matter
====================

The share of every column in what tells the clusters apart, largest first.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from kfrc import KFRC
from kfrc_app.displays import ImportanceDisplay

wine = load_wine(as_frame=True)
model = KFRC(3, level=1.0, m=2, random_state=0).fit(wine.data)
figure = ImportanceDisplay.from_estimator(model, wine.data).figure_
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
