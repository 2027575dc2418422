"""
Silhouettes
===========

How much closer every row is to its own cluster than to the next. Bars to the left of zero are rows that lie nearer to
another cluster.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from kfrc import KFRC
from kfrc_app.displays import SilhouetteDisplay

wine = load_wine(as_frame=True)
model = KFRC(3, level=1.0, m=2, random_state=0).fit(wine.data)
figure = SilhouetteDisplay.from_estimator(model, wine.data).figure_
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
