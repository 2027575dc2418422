"""``kfrc.indices`` of fuzzy c-means against R's fclust: FKM with its indices PC, PE, MPC, XB and SIL.F.

``metrics_oracle.json`` and ``.npz`` hold the cases: fclust 2.1.2, R 4.2.2, standardized columns of iris and wine, seed
11. Both methods iterate to a minimum of the same objective. XB is compared for m = 2, its power of the memberships.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kfrc import FCM, indices

HERE = Path(__file__).parent
CASES = json.loads((HERE / "metrics_oracle.json").read_text())["label_cases"]
SAME_NAME = ("PC", "PE", "MPC")
SOLVER = 1e-5


@pytest.mark.parametrize("dataset", ["iris", "wine"])
@pytest.mark.parametrize("m", [2, 1.3])
def test_indices_of_fuzzy_c_means_are_those_of_fclust(dataset, m):
    with np.load(HERE / "metrics_oracle.npz") as arrays:
        X = arrays[f"{dataset}__X"]
    expected = CASES[f"{dataset}_fkm_m{m}"]
    found = indices(X, 3, estimator=FCM(m=m, tol=1e-10, max_iter=5000), n_refits=0, random_state=0)
    wanted = {name: expected[name] for name in SAME_NAME}
    wanted["fuzzy silhouette"] = expected["SIL_F_alpha1_euclid_distance"]
    if m == 2:
        wanted["XB"] = expected["XB_m2"]
    for name, value in wanted.items():
        assert found[name][0] == pytest.approx(value, abs=SOLVER), name
