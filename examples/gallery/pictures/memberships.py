"""
Memberships as a heat map
=========================

One line for each row of the table, sorted by cluster, surest first. The rows at the end of each block lie between
clusters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from kfrc import KFRC
from kfrc_app.displays import MembershipDisplay

X = load_iris().data
model = KFRC(3, level=1.0, m=2, random_state=0).fit(X)
figure = MembershipDisplay.from_estimator(model, X).figure_
# sphinx_gallery_start_ignore
import sys

if sys.argv[1:2] == ["--out"]:
    figure.savefig(sys.argv[2], dpi=150)
# sphinx_gallery_end_ignore
plt.show()
